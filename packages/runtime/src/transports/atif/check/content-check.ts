import { type Checking, checkFields, type Field, isSet, nameOf, number, objectOf, report, text } from "./field-checks.ts";
import { isRecord } from "../../../util/is-record.ts";
import { audioTypes, canonicalType, imageTypes } from "../media-files.ts";

/** A message or the content of a result: text, or since 1.6 a list of parts. */
export function checkContent(value: unknown, path: string, checking: Checking): void {
  if (typeof value === "string") return;
  const expected = checking.version < 6 ? "string (lists of parts exist since v1.6)" : "string or a list of parts";
  if (checking.version < 6 || !Array.isArray(value))
    return report(checking, path, { rule: "type", message: `expected ${expected}, got ${nameOf(value)}` });
  value.forEach((part: unknown, index) => {
    checkPart(part, `${path}[${index}]`, checking);
  });
}

/** Whatever they hold: which of them a part has depends on its type. */
const partFields: Readonly<Record<string, Field>> = {
  type: { check: () => {}, required: true },
  text: { check: text },
  source: { check: () => {} },
};

function checkPart(value: unknown, path: string, checking: Checking): void {
  if (!isRecord(value))
    return report(checking, path, { rule: "type", message: `expected a part of content, got ${nameOf(value)}` });
  const { type, text: words, source } = value;
  const types = checking.version >= 8 ? ["text", "image", "audio"] : ["text", "image"];
  const isKnown = typeof type === "string" && types.includes(type);
  checkFields(value, path, { fields: isKnown ? partFields : { ...partFields, text: { check: () => {} } }, checking });
  if (type === undefined) return;
  if (!isKnown) return report(checking, `${path}.type`, { rule: "enum", message: `must be one of ${types.join(", ")}` });
  const needed = type === "text" ? "text" : "source";
  if (!isSet(type === "text" ? words : source))
    report(checking, path, { rule: "content-part", message: `a part of type ${type} needs ${needed}` });
  else if (type === "image") checkImage(source, `${path}.source`, checking);
  else if (type === "audio") checkAudio(source, `${path}.source`, checking);
  if (isSet(type === "text" ? source : words))
    report(checking, path, {
      rule: "content-part",
      message: `a part of type ${type} has no ${needed === "text" ? "source" : "text"}`,
    });
}

const checkImage = objectOf((source, path, checking) => {
  const isImage = (value: unknown): boolean => typeof value === "string" && imageTypes.has(value);
  checkSource(source, path, { checking, isType: isImage, types: imageTypes, fields: {} });
});

const checkAudio = objectOf((source, path, checking) => {
  const isAudio = (value: unknown): boolean => typeof value === "string" && audioTypes.has(canonicalType(value));
  checkSource(source, path, { checking, isType: isAudio, types: audioTypes, fields: { duration_sec: { check: number(0) } } });
});

type SourceRules = {
  checking: Checking;
  isType: (value: unknown) => boolean;
  types: ReadonlyMap<string, string>;
  fields: Readonly<Record<string, Field>>;
};

function checkSource(source: Record<string, unknown>, path: string, { checking, isType, types, fields }: SourceRules): void {
  const mediaType: Field["check"] = (value, place) => {
    if (isType(value)) return;
    report(checking, place, { rule: "media-type", message: `must be one of ${[...types.keys()].join(", ")}` });
  };
  checkFields(source, path, {
    fields: { media_type: { check: mediaType, required: true }, path: { check: text, required: true }, ...fields },
    checking,
  });
}
