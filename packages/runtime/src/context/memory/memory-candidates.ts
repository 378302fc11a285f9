import type { MemoryType, NewMemory } from "./memory-entry.ts";
import { MemoryPolicyEvaluator } from "./memory-policy.ts";

/** Something that was said and may be worth remembering. */
export type MemoryCandidate = NewMemory & {
  /** How plainly it was meant to be remembered, of 1. */
  readonly confidence: number;
};

/** A sentence that is longer is a story. */
const maxLength = 240;

type Sign = { readonly pattern: RegExp; readonly type: MemoryType; readonly topic: string; readonly confidence: number };

/** The plainest first: only the first that fits counts for a sentence. */
const signs: readonly Sign[] = [
  { pattern: /^(?:please )?remember(?: that|:)?\s+(.+)$/i, type: "project", topic: "notes", confidence: 0.95 },
  { pattern: /^(?:from now on|in future|always|never)\b.+$/i, type: "feedback", topic: "ways", confidence: 0.85 },
  { pattern: /^i (?:prefer|like|want|use|don't like|do not like)\b.+$/i, type: "user", topic: "preferences", confidence: 0.7 },
  {
    pattern: /^(?:we|the team|this project) (?:use|uses|decided|agreed|prefer|prefers)\b.+$/i,
    type: "project",
    topic: "decisions",
    confidence: 0.7,
  },
  {
    pattern: /^.*\b(?:is documented|documentation is|is described) (?:at|in)\b.+$/i,
    type: "reference",
    topic: "links",
    confidence: 0.6,
  },
];

/**
 * Sentences of a person's that say of themselves that they should be kept. It reads words and nothing else: no model is asked and nothing is
 * written. What holds a secret is no candidate.
 */
export class MemoryCandidateExtractor {
  readonly #policy: MemoryPolicyEvaluator;

  constructor(policy: MemoryPolicyEvaluator = new MemoryPolicyEvaluator()) {
    this.#policy = policy;
  }

  extract(text: string): MemoryCandidate[] {
    const sentences = text.split(/(?<=[.!?])\s+|\n+/).map((sentence) => sentence.replace(/\s+/g, " ").trim());
    const found = sentences.flatMap((sentence) => this.#candidateIn(sentence) ?? []);
    return [...new Map(found.map((candidate) => [candidate.text.toLowerCase(), candidate])).values()];
  }

  #candidateIn(sentence: string): MemoryCandidate | undefined {
    if (sentence === "" || sentence.length > maxLength || sentence.endsWith("?")) return undefined;
    for (const { pattern, type, topic, confidence } of signs) {
      const match = pattern.exec(sentence);
      if (!match) continue;
      const words = match[1] ?? sentence;
      return this.#policy.evaluate(words).allowed ? { type, topic, text: words, confidence } : undefined;
    }
    return undefined;
  }
}
