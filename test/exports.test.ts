import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

const root = process.env["OUTRIDER_ROOT"] ?? process.cwd();
const runtime = join(root, "packages/runtime");

/** A new public name is argued for in review, and then written here. */
const published: Record<string, string[]> = {
  ".": [
    "BackgroundJobOrchestrator",
    "BackgroundTaskError",
    "BackgroundTaskManager",
    "E2BSandboxClient",
    "InMemorySandboxClient",
    "InteractiveSession",
    "RuntimeError",
    "SessionHost",
    "ToolFailure",
    "appendPrefixedLogLines",
    "applyPatchTool",
    "applyWorkspaceManifest",
    "bashTool",
    "chatEntryToMessage",
    "createAgent",
    "createAnthropicProvider",
    "createBackgroundTaskLogPage",
    "createBuiltinTools",
    "createClientWorkspace",
    "createDefaultTools",
    "createExecutionWorkspaceSnapshot",
    "createFileStore",
    "createHeadlessRunner",
    "createHeadlessTransport",
    "createLimitedOutputCapture",
    "createMemoryStore",
    "createProjectSessionStore",
    "createProvider",
    "createQuery",
    "createReplayProvider",
    "createScriptedProvider",
    "createTerminalOutput",
    "defineTool",
    "editTool",
    "evaluateReversibleSafety",
    "filterExecutionWorkspaceEntries",
    "findProvider",
    "fromAiSdk",
    "getMessagesForAPI",
    "globTool",
    "grepTool",
    "isBlockedByReversibility",
    "isChatEntry",
    "isEphemeral",
    "isPermissionMode",
    "listResumableSessionSummaries",
    "messageToHistoryEntry",
    "notebookEditTool",
    "parseCassette",
    "parseCatalogOverride",
    "parseCommand",
    "parseRule",
    "parseScript",
    "permissionModes",
    "planSelfHostingVerification",
    "projectPaths",
    "promptForApproval",
    "providerDefinitions",
    "readTool",
    "summarizeBackgroundJobGroup",
    "toCassette",
    "toMessages",
    "toRuntimeError",
    "toStoredEvents",
    "todoWriteTool",
    "transitionBackgroundTaskStatus",
    "transitionSelfHostingLoop",
    "userPaths",
    "webFetchTool",
    "webSearchTool",
    "withFallback",
    "withRecorder",
    "writeTool",
  ],
  "./acp": ["AcpAgent", "SessionUpdates", "toRpcError"],
  "./admin": [
    "asAgent",
    "binaryKind",
    "boxReach",
    "builtinAgents",
    "bundledRipgrep",
    "checkRuleTool",
    "childEnvironment",
    "chooseModel",
    "chooseProfile",
    "collectGarbage",
    "collectWorktree",
    "connectServers",
    "createBasicFormat",
    "createCalibanFormat",
    "createCheckpoints",
    "createGit",
    "createLocalWorkspace",
    "createProgramFinder",
    "createSecretHider",
    "describePrompt",
    "describeWork",
    "detectSandbox",
    "expireCheckpoints",
    "expireWhenDue",
    "explainCall",
    "explainPermission",
    "forgetServer",
    "forgetTrust",
    "formatCommandSessionReplayValidationReport",
    "inertGit",
    "inspectImage",
    "inspectProject",
    "inspectWorktree",
    "isAsExpected",
    "isOwnerAlive",
    "judgeCase",
    "judgeTrust",
    "lintRule",
    "listCatalog",
    "listTrust",
    "listWorktrees",
    "loadAgentFiles",
    "mergeAgents",
    "ownerIn",
    "parseAgents",
    "parseCase",
    "parseOwner",
    "planServers",
    "presetNames",
    "priceCalls",
    "readAuditLog",
    "readJournalFile",
    "refusalOf",
    "rememberTrust",
    "removeProfile",
    "rulesOfPreset",
    "saveProfile",
    "saveServer",
    "serverFiles",
    "sessionsWithCheckpoints",
    "standingEvents",
    "toRecording",
    "toSendableContent",
    "unknownPreset",
    "unknownTool",
    "unknownToolsOf",
    "unofferedTool",
    "validateCommandSessionReplayLog",
    "validateSessionReplayLogEntries",
    "whyProcessesMayStay",
    "writtenServers",
  ],
  "./atif": [
    "CheckpointHistory",
    "SessionManager",
    "TodoContinuation",
    "createAtifJsonlFormat",
    "emitEvent",
    "fromTrajectory",
    "loadCallPrice",
    "loadTrajectory",
    "readTrajectoryJson",
    "registerSignalHandlers",
    "runHeadless",
    "seedSession",
    "stemOf",
    "toTrajectory",
    "toTrajectoryDocument",
    "validateTrajectory",
    "watchTrajectory",
    "writeDocument",
  ],
  "./host": [
    "LineOutput",
    "beginServers",
    "checkNamedProvider",
    "chooseProvider",
    "claimProcess",
    "createAuditLog",
    "createClaudeFormat",
    "createGrants",
    "createIdSeries",
    "createRedactor",
    "createTextFormat",
    "editDistance",
    "eventUuid",
    "existingFolder",
    "findProjectRoot",
    "frameUuid",
    "ignoredWords",
    "loadCatalogOverride",
    "loadFallback",
    "loadInstructions",
    "loadLayers",
    "loadPartialMessages",
    "loadProvider",
    "loadUserSettings",
    "modelKeys",
    "nearest",
    "noSettings",
    "openProject",
    "openSession",
    "outputFormatNames",
    "outriderHome",
    "ownKeys",
    "parseSettingSources",
    "planSession",
    "randomUuid",
    "resolveLayers",
    "resolveModelWord",
    "resolveProject",
    "runPrompt",
    "sandboxOptions",
    "scrubEnvironment",
    "secretsIn",
    "suggestProfileKey",
    "surroundingsOf",
    "toOptions",
    "userEnvironment",
  ],
  "./live": [
    "answerPermissionQuestions",
    "findSessionFile",
    "importSession",
    "listCommands",
    "openSessionFile",
    "runLive",
    "sessionFilePath",
  ],
  "./mcp": ["McpServers", "parseMcpServers"],
  "./testing": ["sandboxClientConformance", "sessionStoreConformance", "startModelServer"],
};

describe("the published package", () => {
  const manifest = JSON.parse(readFileSync(join(runtime, "package.json"), "utf8"));

  it("has exactly the subpaths that are written down", () => {
    assert.deepEqual(Object.keys(manifest.exports).sort(), Object.keys(published).sort());
  });

  for (const [subpath, names] of Object.entries(published)) {
    it(`exports exactly the names that are written down from "${subpath}"`, async () => {
      const built = await import(join(runtime, manifest.exports[subpath].default));
      assert.deepEqual(Object.keys(built).sort(), names);
    });

    it(`has declarations for "${subpath}"`, () => {
      const declarations = readFileSync(join(runtime, manifest.exports[subpath].types), "utf8");
      for (const name of names) assert.match(declarations, new RegExp(`\\b${name}\\b`));
    });
  }

  it("is imported by its name from the built files", () => {
    const script = 'import("@outrider/runtime").then((runtime) => console.log(typeof runtime.createQuery))';
    assert.equal(execFileSync(process.execPath, ["-e", script], { cwd: root, encoding: "utf8" }), "function\n");
  });

  it("packs nothing but what it needs", () => {
    for (const folder of ["packages/runtime", "packages/cli"]) {
      const [packed] = JSON.parse(
        execFileSync("npm", ["pack", "--dry-run", "--json"], {
          cwd: join(root, folder),
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"],
        }),
      );
      const paths: string[] = packed.files.map((file: { path: string }) => file.path);
      const stray = paths.filter(
        (path) =>
          !/^(dist\/|src\/|bin\/|docs\/|package\.json$|README\.md$|CHANGELOG\.md$|LICENSE$)/.test(path) ||
          path.includes(".test."),
      );
      assert.deepEqual(stray, [], folder);
    }
  });
});
