/** For programs that bring commands of their own, or show those there are; and skills in files, read without a session. */
export { CommandRegistry, commandToolName, SystemCommandExecutor } from "../commands/registry.ts";
export type { Command, CommandSource } from "../commands/command.ts";
export { builtinCommands } from "../commands/builtin/builtin-commands.ts";
export { type MemoryGround, runMemory } from "../commands/builtin/memory.ts";
export { type MemoryEntry, type MemoryType, memoryTypes, type NewMemory } from "../context/memory/memory-entry.ts";
export { MemoryPolicyEvaluator, type MemoryVerdict } from "../context/memory/memory-policy.ts";
export { type MemoryCandidate, MemoryCandidateExtractor } from "../context/memory/memory-candidates.ts";
export { MemoryRetrievalService, type RetrievalOptions, type RetrievedMemory } from "../context/memory/memory-retrieval.ts";
export { type PendingMemory, PendingMemoryStore } from "../context/memory/pending-memory.ts";
export { type AppendedMemory, type ProjectMemoryOptions, ProjectMemoryStore } from "../context/memory/project-memory.ts";
export { findSkills, readSkill, skillFolders, type SkillPlaces } from "../commands/skills/find-skills.ts";
export { knownKeys, type ParsedSkill, parseSkill } from "../commands/skills/parse-skill.ts";
export type { SkillPlace } from "../commands/skills/said.ts";
export { type EmbeddedCommand, preprocessShellCommands } from "../commands/skills/shell-commands.ts";
export type { FoundSkills, Skill, SkillFolder } from "../commands/skills/skill.ts";
export { type SkillPromptContext, substituteVariables } from "../commands/skills/substitute.ts";
