"""Every environment variable of Citegraph, declared once and read lazily."""

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, AliasGenerator, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """The process-wide settings; what differs from run to run is in `citegraph.run.context.Context`.

    Each field is read from the environment variable of its name behind CITEGRAPH_, or from that of its alias, or from `.env`.
    """

    # By name is for programs (`Settings(home=...)`). pydantic-settings then reads the environment by field
    # name too: without a prefix and exact case, `home` would be the user's HOME.
    model_config = SettingsConfigDict(
        env_file=".env",
        env_ignore_empty=True,
        env_prefix="CITEGRAPH_",
        alias_generator=AliasGenerator(validation_alias=lambda name: f"CITEGRAPH_{name.upper()}"),
        use_attribute_docstrings=True,
        case_sensitive=True,
        extra="ignore",
        populate_by_name=True,
        frozen=True,
    )

    home: Path = Path(".citegraph")
    """Folder of the embedded index, the SQLite stores and the checkpoints."""
    buckets_dir: Path | None = Field(None, validation_alias="CITEGRAPH_BUCKETS")
    """Folder of bucket declarations (*.yaml); default: the five that ship with Citegraph."""
    database_url: str | None = None
    """SQLAlchemy URL of the annotation and document store; default: SQLite in CITEGRAPH_HOME."""
    public_url: str | None = Field(
        None, validation_alias=AliasChoices("CITEGRAPH_PUBLIC_URL", "LANGGRAPH_API_URL")
    )
    """Address by which people reach the server, for links in chats; default: as it is called."""
    api_keys: Path | None = None
    """JSON file of API keys, hashed, with what each may see; see docs/api.md."""
    jwt_secret: SecretStr | None = None
    """Secret of JWT bearer tokens signed with HS256; at least 32 bytes."""
    jwt_keys: Path | None = None
    """JWKS file with the public keys of JWT bearer tokens signed with RS256."""
    jwt_audience: str | None = None
    """Audience that a JWT must name, when set."""
    jwt_issuer: str | None = None
    """Issuer that a JWT must name, when set."""
    allowed_hosts: str = ""
    """Names, with commas, by which a server without keys may be called beside localhost and --host."""
    allowed_origins: str = ""
    """Other sites, with commas, whose pages may ask a server without keys, e.g. https://example.org."""
    rate_limit: str = "1200/minute"
    """Requests that one principal may make of the API, e.g. 20/second; 429 above it."""
    max_runs: int = Field(64, ge=1)
    """Questions and uploads that the API works on at once; 429 above it."""
    max_upload_mb: int = Field(50, ge=1)
    """Megabytes of an uploaded file; 413 above it."""
    watch: dict[str, Path] = {}
    """Folders whose files a server brings in again when they change, as JSON by bucket: {"invoices": "/data/invoices"}."""
    engine: Literal["inprocess", "process"] | None = None
    """Where the embedded engine runs: inprocess or process; default: process under `citegraph serve`."""
    qdrant_url: str | None = Field(None, validation_alias="QDRANT_URL")
    """Address of a Qdrant server or cluster; default: the embedded engine."""
    qdrant_api_key: SecretStr | None = Field(None, validation_alias="QDRANT_API_KEY")
    """Key of the Qdrant server, when it needs one."""
    embeddings: Literal["static", "minilm", "openai"] = "static"
    """Dense embedding model: static (256-d, fast), minilm (384-d) or openai (any endpoint)."""
    embedding_model: str = "text-embedding-3-small"
    """Model name sent to the embedding endpoint when CITEGRAPH_EMBEDDINGS=openai."""
    embedding_url: str | None = None
    """Base URL of the embedding endpoint; default: that of the chat models, with its key."""
    embedding_key: SecretStr | None = None
    """Key of the endpoint at CITEGRAPH_EMBEDDING_URL, when it needs one."""
    reranker: Literal["none", "minilm", "served", "scores", "order"] = "none"
    """Second stage: none, minilm (local), served (/rerank endpoint), scores or order (chat model)."""
    rerank_url: str | None = None
    """Address of a Cohere, Jina or TEI style /rerank endpoint when CITEGRAPH_RERANKER=served."""
    chunk_tokens: int = Field(900, ge=50, le=8000)
    """Chunk size in tokens."""
    ingest_workers: int | None = Field(None, ge=1, le=64)
    """Processes that read files; default: one a processor. Each file is read under the limits below."""
    ingest_seconds: float = Field(300.0, gt=0)
    """Seconds that a file may take until its next document is read; then it is left out."""
    ingest_memory_mb: int = Field(4096, ge=0)
    """Memory of a reading process in MB; a file that needs more is left out. 0 is no limit."""
    ingest_file_mb: int = Field(512, gt=0)
    """Largest file in MB (JSONL may be larger); an archive may unpack to twice as much."""
    search_timeout: float = Field(5.0, gt=0)
    """Seconds allowed for one search over several buckets."""
    openai_api_key: SecretStr | None = Field(None, validation_alias="OPENAI_API_KEY")
    """Key of the OpenAI-compatible endpoint; without a model name the twins answer."""
    openai_base_url: str | None = Field(
        None, validation_alias=AliasChoices("OPENAI_BASE_URL", "OPENAI_API_BASE")
    )
    """Base URL of the OpenAI-compatible endpoint; default: OpenAI's own."""
    mode: Literal["agentic", "single"] = "agentic"
    """What a run does that does not say: agentic, or single (one pass; a switch for emergencies)."""
    model: str | None = None
    """Chat model of every step; empty: no model is called, the deterministic twins answer."""
    step_models: dict[str, dict[str, str | float | int]] = {}
    """Overrides per step as JSON, e.g. {"compose": {"model": "gpt-5", "timeout": 60}}."""
    endpoints: dict[str, dict[str, str]] = Field({}, repr=False)
    """Endpoints that a step or a run may choose by name, as JSON: {"fast": {"base_url": "https://...", "api_key": "..."}}."""
    model_timeout: float = Field(30.0, gt=0)
    """Seconds allowed for one model call."""
    prompts: dict[str, str] = {}
    """Instructions of your own per step as JSON: {"compose": "FILE or package.module:function"}."""
    parts: dict[str, str] = {}
    """Parts of your own as JSON, e.g. {"router": "package.module:name"}; see docs/parts.md for the kinds."""
    prompt_tokens: dict[str, int] = {}
    """Longest prompt by start of the model name as JSON, e.g. {"gpt": 100000, "*": 8000}."""
    prices: dict[str, dict[str, float]] = {}
    """Money per million tokens as JSON, e.g. {"gpt-5": {"input": 1.25, "output": 10}}; "*": others."""
    cache: bool = True
    """Keep results of searches, rerankers and planning steps by their exact key: true or false."""
    trace_text: bool = False
    """Send questions, passages and answers to LangSmith, not only ids and counts: true or false."""
    otlp_endpoint: str | None = Field(None, validation_alias="OTEL_EXPORTER_OTLP_ENDPOINT")
    """Where OpenTelemetry spans go by OTLP over HTTP, e.g. http://localhost:4318; empty: nowhere."""
    log_format: Literal["text", "json"] = "text"
    """Form of the server's log lines: text or json; neither holds text of questions or documents."""
    debug: bool = False
    """Show where an error of the command line came from: true or false."""

    @property
    def nothing_stored(self) -> bool:
        """Tell whether there is no database yet; looking for documents must not make one."""
        return not self.database_url and not (self.home / "citegraph.sqlite").exists()

    @property
    def sql_url(self) -> str:
        """Return the SQLAlchemy URL of the document and annotation store."""
        return self.database_url or f"sqlite:///{self.home / 'citegraph.sqlite'}"

    @property
    def auth_required(self) -> bool:
        """Return whether the server answers only those who show a key or a token."""
        return self.api_keys is not None or self.jwt_secret is not None or self.jwt_keys is not None

    @property
    def fusion(self) -> tuple[float, float]:
        """Return the RRF weights (dense, sparse); static vectors are fused 1:6.

        Measured on five judged collections: 5 to 8 is never worse than BM25 alone by more than 0.005
        nDCG@10 and mostly better; 3 costs 0.02 where the questions are claims.
        """
        return (1.0, 6.0) if self.embeddings == "static" else (1.0, 1.0)


def load_settings() -> Settings:
    """Return the settings of this process, read now from the environment and `.env`.

    Raises:
        pydantic.ValidationError: a variable has a value of the wrong type; the message names it.
    """
    return Settings()
