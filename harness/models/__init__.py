"""Where models come from: a hub id, a local folder, or one embedded in an installed package.

Shared by the rooms that run models. Weights are safetensors only, remote code is never trusted, and a model
that cannot be had is a ModelError: no other model takes its place.
"""

from typing import TYPE_CHECKING

from harness.door import door

if TYPE_CHECKING:
    from harness.models.bi_encoder import BiEncoderConfig
    from harness.models.encoder import (
        ComputingConfig,
        EmbedConfig,
        Encoder,
        EncoderConfig,
        LocalConfig,
        LocalEncoder,
        LocalModel,
        ModelTokenizer,
        SentenceEncoder,
        SparseConfig,
        length_sorted_batches,
    )
    from harness.models.llm import prompt
    from harness.models.llm.asking import answers, ask, talks
    from harness.models.llm.batch_status import BatchStatus, batch_statuses
    from harness.models.llm.client import ChatClient, Reply
    from harness.models.llm.config import FailurePolicy, LlmStepConfig, ModelConfig, Purpose, Request
    from harness.models.llm.endpoint import Endpoint, HttpConfig, HttpEndpoint, plain_url
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
        Messages,
        Structured,
        Talk,
        TextForm,
        filled,
        mark_of,
        messages_of,
        outcome,
        render,
        text_of,
    )
    from harness.models.llm.http_client import Connection, due
    from harness.models.llm.layout import REASON, ReplyLayout, laid_out
    from harness.models.llm.limits import Backoff, limiter_of
    from harness.models.llm.model import Job, Model, came_in_batch, jobs_of
    from harness.models.llm.money import Estimate, Spending, add, estimate_tokens, sum_of
    from harness.models.llm.prompt import Prompt, built_in, prompts_of
    from harness.models.llm.reply import (
        Malformed,
        fault_of,
        fields_named,
        first_object_in,
        json_in,
        list_in,
        number_in,
        object_in,
        object_of,
        reply_in,
        value_in,
    )
    from harness.models.llm.requests import Inquiry
    from harness.models.llm.sender import Received, Sender, send_all
    from harness.models.llm.untrusted import UntrustedJsonError, read_json
    from harness.models.model_files import EMBEDDED, EXACT, INT8, PRECISION_TEXT, Precision, Way, resolve
    from harness.models.quantised import (
        CalibrationTexts,
        InInt8,
        Quantising,
        ScreenEncoder,
        calibration_of,
        check_screen_packages,
    )
    from harness.models.served.embedding import ServedEncoder
    from harness.models.served.fetching import ServedRequest, fetch
    from harness.models.served.reranking import ServedPairs
    from harness.models.served.served_endpoint import (
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
    from harness.models.tagger import Tagged, Tagger, TaggerConfig, spans_of, tagged
    from harness.models.token_encoder import TokenConfig, content_vectors, unpack
    from harness.models.ways import WORTH, Probe, probe, seconds_of
    from harness.models.word_tokens import (
        WORDS,
        AnyTokenizer,
        WordTokenizer,
        default_tokenizer,
        tokenizer_named,
    )
else:
    __getattr__ = door(
        __name__,
        {
            "harness.models.bi_encoder": "BiEncoderConfig",
            "harness.models.encoder": (
                "ComputingConfig EmbedConfig Encoder EncoderConfig LocalConfig LocalEncoder LocalModel "
                "ModelTokenizer SentenceEncoder SparseConfig length_sorted_batches"
            ),
            "harness.models.llm": "prompt",
            "harness.models.llm.asking": "answers ask talks",
            "harness.models.llm.batch_status": "BatchStatus batch_statuses",
            "harness.models.llm.client": "ChatClient Reply",
            "harness.models.llm.config": "FailurePolicy LlmStepConfig ModelConfig Purpose Request",
            "harness.models.llm.endpoint": "Endpoint HttpConfig HttpEndpoint plain_url",
            "harness.models.llm.faults": (
                "BROKEN CallError REDIRECTS one_line read_body redirected retry_after"
            ),
            "harness.models.llm.form": (
                "About Form Messages Structured Talk TextForm filled mark_of messages_of outcome render "
                "text_of"
            ),
            "harness.models.llm.http_client": "Connection due",
            "harness.models.llm.layout": "REASON ReplyLayout laid_out",
            "harness.models.llm.limits": "Backoff limiter_of",
            "harness.models.llm.model": "Job Model came_in_batch jobs_of",
            "harness.models.llm.money": "Estimate Spending add estimate_tokens sum_of",
            "harness.models.llm.prompt": "Prompt built_in prompts_of",
            "harness.models.llm.reply": (
                "Malformed fault_of fields_named first_object_in json_in list_in number_in object_in "
                "object_of reply_in value_in"
            ),
            "harness.models.llm.requests": "Inquiry",
            "harness.models.llm.sender": "Received Sender send_all",
            "harness.models.llm.untrusted": "UntrustedJsonError read_json",
            "harness.models.model_files": "EMBEDDED EXACT INT8 PRECISION_TEXT Precision Way resolve",
            "harness.models.quantised": (
                "CalibrationTexts InInt8 Quantising ScreenEncoder calibration_of check_screen_packages"
            ),
            "harness.models.served.embedding": "ServedEncoder",
            "harness.models.served.fetching": "ServedRequest fetch",
            "harness.models.served.reranking": "ServedPairs",
            "harness.models.served.served_endpoint": (
                "EmbeddingEndpoint Expression Method RerankEndpoint ServedEndpoint ServedEstimate Template "
                "carried fill names_in search"
            ),
            "harness.models.tagger": "Tagged Tagger TaggerConfig spans_of tagged",
            "harness.models.token_encoder": "TokenConfig content_vectors unpack",
            "harness.models.ways": "Probe WORTH probe seconds_of",
            "harness.models.word_tokens": (
                "AnyTokenizer WORDS WordTokenizer default_tokenizer tokenizer_named"
            ),
        },
    )
