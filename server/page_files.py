"""The files of the web page, with headers that hold it to its own origin."""

from fastapi.staticfiles import StaticFiles
from starlette.responses import Response
from starlette.types import Scope

POLICY = "; ".join(
    (
        "default-src 'none'",
        # WebAssembly alone, no eval: PDF.js decodes scans (JBIG2, JPEG 2000) with it.
        "script-src 'self' 'wasm-unsafe-eval'",
        "worker-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        # One policy: the address of PDF.js's worker.
        "trusted-types citegraph-pdf",
    )
)
"""Nothing from elsewhere, nothing inline; text can never become HTML or script."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class PageFiles(StaticFiles):
    """Static files under the page's policy."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file with the headers; what is not there raises 404."""
        response: Response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        return response
