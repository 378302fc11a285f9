import type { JsonObject } from "../protocol/content.ts";
import { defined } from "../util/defined.ts";

/**
 * A schema of zod 3 as JSON Schema of what it takes in, for the model to read. The schema itself judges the values, so whatever has no
 * counterpart (checks written as code, dates, maps) is left out here and nothing is let through because of it.
 */
export function fromZod3(schema: unknown): JsonObject {
  return new Conversion().convert(schema as Zod3Schema); // told by `_def.typeName`
}

type Zod3Schema = { readonly _def: Definition; readonly description?: string | undefined };

/** As far as it is read; which fields there are depends on `typeName`. */
type Definition = {
  readonly typeName: string;
  readonly description?: string;
  readonly checks?: readonly Check[];
  readonly shape?: () => Readonly<Record<string, Zod3Schema>>;
  readonly unknownKeys?: "strict" | "strip" | "passthrough";
  readonly catchall?: Zod3Schema;
  readonly type?: Zod3Schema;
  readonly innerType?: Zod3Schema;
  readonly schema?: Zod3Schema;
  readonly in?: Zod3Schema;
  readonly getter?: () => Zod3Schema;
  readonly keyType?: Zod3Schema;
  readonly valueType?: Zod3Schema;
  readonly items?: readonly Zod3Schema[];
  readonly rest?: Zod3Schema | null;
  readonly left?: Zod3Schema;
  readonly right?: Zod3Schema;
  readonly options?: readonly Zod3Schema[] | ReadonlyMap<unknown, Zod3Schema>;
  readonly value?: unknown;
  readonly values?: readonly string[] | Readonly<Record<string, string | number>>;
  readonly defaultValue?: () => unknown;
  readonly minLength?: { readonly value: number } | null;
  readonly maxLength?: { readonly value: number } | null;
  readonly exactLength?: { readonly value: number } | null;
};

type Check = { readonly kind: string; readonly value?: unknown; readonly inclusive?: boolean; readonly regex?: RegExp };

/** As loose as JSON Schema, built up here and made plain by whoever asked. */
type Loose = { [keyword: string]: unknown };

const wrappers: readonly string[] = ["ZodBranded", "ZodReadonly", "ZodCatch", "ZodOptional", "ZodPromise"];

class Conversion {
  /** Schemas that contain themselves are described once more than they are nested, then by anything. */
  readonly #open: Zod3Schema[] = [];

  convert(schema: Zod3Schema): JsonObject {
    if (this.#open.includes(schema)) return {};
    this.#open.push(schema);
    const description = schema.description ?? schema._def.description;
    const converted = this.#convert(schema._def);
    this.#open.pop();
    return { ...converted, ...defined({ description }) } as JsonObject; // made of what zod took as JSON
  }

  #convert(def: Definition): Loose {
    const { typeName } = def;
    if (wrappers.includes(typeName)) return this.#inner(def.innerType ?? def.type);
    switch (typeName) {
      case "ZodString":
        return withChecks({ type: "string" }, def.checks, stringChecks);
      case "ZodNumber":
        return withChecks({ type: "number" }, def.checks, numberChecks);
      case "ZodBoolean":
        return { type: "boolean" };
      case "ZodNull":
        return { type: "null" };
      case "ZodLiteral":
        return { const: def.value };
      case "ZodEnum":
        return { type: "string", enum: def.values };
      case "ZodNativeEnum":
        return { enum: valuesOfEnum(def.values) };
      case "ZodObject":
        return this.#object(def);
      case "ZodArray":
        return { type: "array", items: this.#inner(def.type), ...lengths(def) };
      case "ZodSet":
        return { type: "array", items: this.#inner(def.valueType), uniqueItems: true };
      case "ZodTuple":
        return this.#tuple(def);
      case "ZodRecord":
        return { type: "object", additionalProperties: this.#inner(def.valueType) };
      case "ZodUnion":
      case "ZodDiscriminatedUnion":
        return { anyOf: [...(def.options?.values() ?? [])].map((option) => this.convert(option)) };
      case "ZodIntersection":
        return { allOf: [this.#inner(def.left), this.#inner(def.right)] };
      case "ZodNullable":
        return { anyOf: [this.#inner(def.innerType), { type: "null" }] };
      case "ZodDefault":
        return { ...this.#inner(def.innerType), default: def.defaultValue?.() };
      case "ZodEffects":
        return this.#inner(def.schema);
      case "ZodPipeline":
        return this.#inner(def.in);
      case "ZodLazy":
        return this.#inner(def.getter?.());
      default:
        return {}; // any, unknown, dates, maps and what is invented later: the schema decides
    }
  }

  #inner(schema: Zod3Schema | undefined): Loose {
    return schema ? this.convert(schema) : {};
  }

  #object({ shape, unknownKeys, catchall }: Definition): Loose {
    const fields = Object.entries(shape?.() ?? {});
    const others = catchall && catchall._def.typeName !== "ZodNever" ? this.convert(catchall) : unknownKeys !== "strict";
    return {
      type: "object",
      properties: Object.fromEntries(fields.map(([name, field]) => [name, this.convert(field)])),
      required: fields.filter(([, field]) => !mayBeAbsent(field)).map(([name]) => name),
      ...(others !== true && { additionalProperties: others }),
    };
  }

  #tuple({ items = [], rest }: Definition): Loose {
    return {
      type: "array",
      prefixItems: items.map((item) => this.convert(item)),
      minItems: items.length,
      ...(rest ? { items: this.convert(rest) } : { maxItems: items.length }),
    };
  }
}

const seeThrough: readonly string[] = ["ZodBranded", "ZodReadonly", "ZodNullable", "ZodEffects", "ZodPipeline"];

function mayBeAbsent({ _def: def }: Zod3Schema): boolean {
  if (["ZodOptional", "ZodDefault", "ZodCatch", "ZodAny", "ZodUnknown", "ZodUndefined"].includes(def.typeName)) return true;
  const inner = def.innerType ?? def.schema ?? def.in ?? def.type;
  return seeThrough.includes(def.typeName) && inner !== undefined && mayBeAbsent(inner);
}

type Checks = Readonly<Record<string, (check: Check) => Loose>>;

const stringChecks: Checks = {
  min: ({ value }) => ({ minLength: value }),
  max: ({ value }) => ({ maxLength: value }),
  length: ({ value }) => ({ minLength: value, maxLength: value }),
  email: () => ({ format: "email" }),
  url: () => ({ format: "uri" }),
  uuid: () => ({ format: "uuid" }),
  date: () => ({ format: "date" }),
  datetime: () => ({ format: "date-time" }),
  regex: ({ regex }) => (regex && regex.flags === "" ? { pattern: regex.source } : {}),
};

const numberChecks: Checks = {
  int: () => ({ type: "integer" }),
  min: ({ value, inclusive }) => (inclusive ? { minimum: value } : { exclusiveMinimum: value }),
  max: ({ value, inclusive }) => (inclusive ? { maximum: value } : { exclusiveMaximum: value }),
  multipleOf: ({ value }) => ({ multipleOf: value }),
};

function withChecks(schema: Loose, checks: readonly Check[] = [], known: Checks): Loose {
  return Object.assign({}, schema, ...checks.map((check) => known[check.kind]?.(check) ?? {}));
}

function lengths({ minLength, maxLength, exactLength }: Definition): Loose {
  const least = exactLength ?? minLength;
  const most = exactLength ?? maxLength;
  return { ...(least && { minItems: least.value }), ...(most && { maxItems: most.value }) };
}

/** An enum of TypeScript with numbers also holds their names, the other way round. */
function valuesOfEnum(values: Definition["values"]): unknown[] {
  const entries = Object.entries(values ?? {});
  return entries.filter(([name]) => Number.isNaN(Number(name))).map(([, value]) => value);
}
