"""Outrider as an installed agent of Harbor.

    harbor run -d terminal-bench@2.0 --agent outrider_harbor:Outrider -m anthropic/claude-sonnet-5-5

The command writes an ATIF trajectory after every step, so that a trial that times out keeps what it has done;
tokens and costs are read from it.
"""

import json
import os
import shlex
from pathlib import Path
from typing import Any

from harbor.agents.installed import base
from harbor.agents.installed.base import BaseInstalledAgent, CliFlag, with_prompt_template
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

LOGS = "/logs/agent"
LOADED = f"{LOGS}/load-trajectory.json"
PACKAGE = "/tmp/outrider-package.tgz"

SKILLS = (
    "Instructions for kinds of work are in the folders below {}: each has a SKILL.md that begins with what it is for. "
    "Look at the list before you begin, and follow those that fit the task."
)

# Where a provider has another name with us than with Harbor.
PROVIDERS = {"google": "gemini", "together_ai": "together", "fireworks_ai": "fireworks", "hosted_vllm": "vllm"}

# Variables of the host that reach the model, beside <PROVIDER>_API_KEY and <PROVIDER>_BASE_URL.
MORE_VARIABLES = {
    "anthropic": ["ANTHROPIC_AUTH_TOKEN"],
    "gemini": ["GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"],
    "azure": ["AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_ENDPOINT"],
    "bedrock": ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_BEARER_TOKEN_BEDROCK"],
}

# What a failed run says last, and the class of Harbor's errors that it is. Harbor takes the pattern that matches furthest down.
ERRORS = [
    (r"answered HTTP 429\b", "ApiRateLimitError"),
    (r"answered HTTP 402\b", "ApiUsageLimitError"),
    (r"answered HTTP 40[13]\b|needs a key: set|No model provider is configured", "AgentAuthenticationError"),
    (r"answered HTTP 404\b", "ModelNotFoundError"),
    (r"answered HTTP (?:503|529)\b", "ApiOverloadedError"),
    (r"answered HTTP 5(?:00|02|04)\b", "ApiInternalServerError"),
    (r"no longer fits into the model's context window", "ContextWindowExceededError"),
    (r"The answer broke off before its end|The connection to \S+ was cut", "ApiConnectionClosedError"),
    (r"refused the connection|could not be resolved|cannot be reached over the network|No connection to ", "NetworkConnectionError"),
]


def error_patterns() -> list[Any]:
    """Harbor's own and ours, as far as this version of Harbor has such classes."""
    pattern = getattr(base, "ErrorPattern", None)
    if pattern is None:
        return []
    known = [(words, getattr(base, name, None)) for words, name in ERRORS]
    own = [pattern(words, exception) for words, exception in known if exception is not None]
    return [*getattr(BaseInstalledAgent, "ERROR_PATTERNS", []), *own]


INSTALL_NODE = (
    "curl -fsSL https://raw.githubusercontent.com/nvm-sh/nvm/v0.40.3/install.sh | bash && "
    '. "$HOME/.nvm/nvm.sh" && nvm install 22'
)
HAS_NODE = (
    "command -v node >/dev/null 2>&1 && "
    "node -e 'const [a, b] = process.versions.node.split(\".\").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)'"
)
WITH_NODE = 'if [ -s "$HOME/.nvm/nvm.sh" ]; then . "$HOME/.nvm/nvm.sh"; fi; export PATH="$HOME/.outrider-agent/bin:$PATH"'


class Outrider(BaseInstalledAgent):
    """Runs `outrider -p` in the task's container, with all permissions: the container is the box."""

    SUPPORTS_ATIF = True
    SUPPORTS_RESUME = True
    SUPPORTS_LOAD_ATIF_TRAJECTORY = True
    ERROR_PATTERNS = error_patterns()

    CLI_FLAGS = [
        CliFlag("max_turns", cli="--max-turns", type="int"),
        CliFlag("max_budget_usd", cli="--max-budget-usd", type="str"),
        CliFlag("effort", cli="--effort", type="enum", choices=["minimal", "low", "medium", "high"]),
        CliFlag("thinking", cli="--thinking", type="int"),
        CliFlag("fallback_model", cli="--fallback-model", type="str"),
        CliFlag(
            "permission_mode",
            cli="--permission-mode",
            type="enum",
            choices=["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"],
            default="bypassPermissions",
        ),
    ]

    def __init__(self, *args: Any, package: str | None = None, **kwargs: Any) -> None:
        """`package`: a tarball of `npm pack` to install instead of a version of the registry, a file of this machine or an address."""
        super().__init__(*args, **kwargs)
        self._package = package

    @staticmethod
    def name() -> str:
        return "outrider"

    def get_version_command(self) -> str | None:
        return f"{WITH_NODE}; outrider --version"

    def parse_version(self, stdout: str) -> str:
        return stdout.strip().split(" ")[0]

    async def install(self, environment: BaseEnvironment) -> None:
        if hasattr(self, "ensure_system_dependencies"):
            await self.ensure_system_dependencies(environment, ("curl", "bash", "git", "ca_certificates"))
        package = await self._package_in(environment)
        command = (
            f"if ! {{ {HAS_NODE}; }}; then {INSTALL_NODE}; fi && {WITH_NODE} && "
            f'npm install --global --prefix "$HOME/.outrider-agent" {shlex.quote(package)} && outrider --version'
        )
        await self.exec_as_agent(environment, command=f"bash -c {shlex.quote(command)}")

    async def _package_in(self, environment: BaseEnvironment) -> str:
        """What npm is told to install, as it is called inside the container."""
        if self._package is None:
            return "outrider" if self.version() is None else f"outrider@{self.version()}"
        if self._package.startswith("https://"):
            return self._package
        source = Path(self._package).expanduser().resolve()
        if not source.is_file():
            raise FileNotFoundError(f"There is no package at {source}; make one with npm pack")
        await environment.upload_file(source, PACKAGE)
        return PACKAGE

    @with_prompt_template
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        # Without the last of these flags the mode that allows everything is refused, whoever asks for it.
        words = ["outrider", "--print", "--trajectory", f"{LOGS}/trajectory.json", "--verbose"]
        words += ["--allow-dangerously-skip-permissions", *self._session_words()]
        if self.model_name:
            words += ["--model", self._model()]
        skills = getattr(self, "skills_dir", None)
        if skills:
            words += ["--add-dir", str(skills), "--append-system-prompt", SKILLS.format(skills)]
        servers = self._mcp_config()
        if servers:
            words += ["--mcp-config", json.dumps(servers)]
        if getattr(self, "_load", False):
            await self._seed_load_trajectory(environment)
        # The instruction comes last and after `--`: it may begin with anything.
        command = " ".join([shlex.join(words), self.build_cli_flags(), "--", shlex.quote(instruction)])
        await self.exec_as_agent(
            environment,
            command=f"{WITH_NODE}; {command} </dev/null 2>&1 | tee {LOGS}/outrider.txt",
            env=self._variables(),
        )

    def populate_context_post_run(self, context: AgentContext) -> None:
        """Also after a timeout: the trajectory is whole after every step."""
        path = Path(self.logs_dir) / "trajectory.json"
        try:
            trajectory = json.loads(path.read_text())
        except (OSError, ValueError):
            return
        final = trajectory.get("final_metrics") or {}
        side = (final.get("extra") or {}).get("side_calls") or {}
        subagents = [child.get("final_metrics") or {} for child in trajectory.get("subagent_trajectories") or []]

        def total(name: str) -> int | None:
            counts = [metrics.get(f"total_{name}") for metrics in [final, *subagents]] + [side.get(name)]
            known = [count for count in counts if count is not None]
            return sum(known) if known else None

        context.n_input_tokens = total("prompt_tokens")
        context.n_cache_tokens = total("cached_tokens")
        context.n_output_tokens = total("completion_tokens")
        context.cost_usd = final.get("total_cost_usd")
        context.metadata = {
            "outcome": (trajectory.get("extra") or {}).get("outcome"),
            "n_steps": len(trajectory.get("steps") or []),
            "n_subagents": len(subagents),
        }

    def atif_to_native_trajectory(self, trajectory: Any, session_id: str) -> tuple[str, str]:
        """Outrider reads ATIF itself."""
        return "load-trajectory.json", trajectory.model_dump_json(exclude_none=True)

    async def _upload_load_trajectory(self, environment: BaseEnvironment, source: Path) -> None:
        await self._upload_agent_owned_file(environment, source, LOADED)

    def _session_words(self) -> list[str]:
        if getattr(self, "_load", False):
            return ["--load-trajectory", LOADED]
        return ["--continue"] if getattr(self, "_resume", False) else []

    def _model(self) -> str:
        provider, slash, model = self.model_name.partition("/")
        return f"{PROVIDERS.get(provider, provider)}{slash}{model}"

    def _variables(self) -> dict[str, str]:
        provider = self._model().partition("/")[0] if self.model_name else "anthropic"
        prefix = provider.upper().replace("-", "_")
        names = [f"{prefix}_API_KEY", f"{prefix}_BASE_URL", *MORE_VARIABLES.get(provider, [])]
        lookup = getattr(self, "_get_env", os.environ.get)
        return {name: value for name in names if (value := lookup(name))}

    def _mcp_config(self) -> dict[str, Any] | None:
        servers = {}
        for server in getattr(self, "mcp_servers", None) or []:
            if server.transport == "stdio":
                servers[server.name] = {"command": server.command, "args": list(server.args or [])}
            else:
                servers[server.name] = {"type": "sse" if server.transport == "sse" else "http", "url": server.url}
        return {"mcpServers": servers} if servers else None
