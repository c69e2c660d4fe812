"""The files of the web page, with headers that hold it to its own origin."""

from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope


def guarded(policy: str, **more: str) -> dict[str, str]:
    """Return the headers of a page that is held to a policy: nothing but what is named, and in no frame."""
    return {
        "Content-Security-Policy": f"default-src 'none'; {policy}; base-uri 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        **{name.replace("_", "-"): value for name, value in more.items()},
    }


# WebAssembly alone, no eval: PDF.js decodes scans (JBIG2, JPEG 2000) with it; the policy of trusted types is the address
# of its worker.
HEADERS = guarded(
    "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; form-action 'none'; require-trusted-types-for 'script'; trusted-types citegraph-pdf",
    Cache_Control="no-cache",
)
"""Nothing from elsewhere, nothing inline; text can never become HTML or script."""


class PageFiles(StaticFiles):
    """Static files under the page's policy."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file with the headers; what is not there raises 404."""
        response: Response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response
