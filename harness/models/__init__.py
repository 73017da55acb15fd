"""Where models come from: a hub id, a local folder, or one embedded in an installed package.

Shared by the rooms that run models. Weights are safetensors only, remote code is never trusted, and a model
that cannot be had is a ModelError: no other model takes its place.
"""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.models.encoder import (
        ComputingConfig,
        EmbedConfig,
        Encoder,
        EncoderConfig,
        LocalConfig,
        LocalEncoder,
        LocalModel,
        ModelTokenizer,
        SparseConfig,
        Value,
        length_sorted_batches,
    )
    from harness.models.llm import prompt
    from harness.models.llm.calls import answers, ask, talks
    from harness.models.llm.config import FailurePolicy, LlmStepConfig, ModelConfig, Purpose, Request
    from harness.models.llm.endpoint import HttpConfig, HttpEndpoint, plain_url
    from harness.models.llm.faults import (
        BROKEN,
        REDIRECTS,
        CallError,
        one_line,
        read_body,
        redirected,
        retry_after,
    )
    from harness.models.llm.form import (
        About,
        Form,
        Malformed,
        Messages,
        Structured,
        Talk,
        TextForm,
        after_thoughts,
        filled,
        mark_of,
        messages_of,
        object_in,
        outcome,
        render,
        text_of,
    )
    from harness.models.llm.http_client import Connection
    from harness.models.llm.limits import limiter_of
    from harness.models.llm.model import Job, Model, came_in_batch, jobs_of
    from harness.models.llm.money import Estimate, Spending, add, estimate_tokens, sum_of
    from harness.models.llm.prompt import Prompt, prompts_of
    from harness.models.llm.sender import Came, Exchange, send_all
    from harness.models.llm.untrusted import (
        NamedTwiceError,
        UntrustedJsonError,
        read_json,
        read_json_at,
        reports_error,
    )
    from harness.models.model_files import EMBEDDED, EXACT, PRECISION_TEXT, Precision, Way, resolve
    from harness.models.served.embedding import ServedEmbedConfig, ServedEncoder
    from harness.models.served.endpoint import (
        EmbeddingEndpoint,
        Expression,
        Method,
        RerankEndpoint,
        ServedEndpoint,
        ServedEstimate,
        Template,
        carried,
        fill,
        names_in,
        search,
    )
    from harness.models.served.fetching import ServedRequest, fetch
    from harness.models.served.reranking import ServedPairs
    from harness.models.token_encoder import TokenConfig, content_vectors, unpack
    from harness.models.ways import Probe, probe
else:
    __getattr__ = door(__name__, __file__)
