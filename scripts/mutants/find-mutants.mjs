// Which changes a source file could suffer without anybody noticing: a list of small edits, found in its syntax tree.
import { parse } from "@babel/parser";

/**
 * Each mutant replaces `start`–`end` of the text by `code`. Of an expression another expression takes the place; of a statement, nothing.
 * `nth` tells apart the same operator on the same line.
 */
export function findMutants(text, file) {
  const tree = parse(text, { sourceType: "module", plugins: ["typescript", "explicitResourceManagement"] });
  const found = [];
  const add = (node, operator, code, kind = "expression") =>
    found.push({ file, operator, kind, start: node.start, end: node.end, line: node.loc.start.line, code });
  const source = (node) => text.slice(node.start, node.end);
  visit(tree.program, undefined, (node, parent, depth) => {
    for (const operator of operators) operator(node, { parent, add, source, depth });
  });
  const lines = text.split("\n");
  const seen = new Map();
  return found.map((mutant) => {
    const at = lines[mutant.line - 1].trim();
    const name = `${file}|${mutant.operator}|${at}`;
    const nth = seen.get(name) ?? 0;
    seen.set(name, nth + 1);
    return { ...mutant, at, nth, key: `${name}|${nth}` };
  });
}

const operators = [
  function decides(node, { add }) {
    const test = node.test;
    if (!test || !["IfStatement", "ConditionalExpression", "WhileStatement"].includes(node.type)) return;
    if (test.type === "BooleanLiteral") return;
    if (node.type !== "WhileStatement") add(test, "always", "true");
    add(test, "never", "false");
  },
  function compares(node, { add, source }) {
    const other = { "===": "!==", "!==": "===", "<": "<=", "<=": "<", ">": ">=", ">=": ">" }[node.operator];
    if (node.type === "BinaryExpression" && other) add(node, "compare", `${source(node.left)} ${other} ${source(node.right)}`);
  },
  function combines(node, { add, source }) {
    if (node.type !== "LogicalExpression") return;
    const [left, right] = [source(node.left), source(node.right)];
    if (node.operator === "??") add(node, "default", left);
    else add(node, "logic", node.operator === "&&" ? `(${left}) || (${right})` : `(${left}) && (${right})`);
  },
  function counts(node, { add, source }) {
    const other = { "+": "-", "-": "+", "*": "/", "/": "*" }[node.operator];
    if (node.type !== "BinaryExpression" || !other) return;
    if ([node.left, node.right].some((side) => /String|Template/.test(side.type) || /["'`]/.test(source(side)))) return;
    add(node, "count", `${source(node.left)} ${other} (${source(node.right)})`);
  },
  function negates(node, { add, source }) {
    if (node.type === "UnaryExpression" && node.operator === "!") add(node, "not", source(node.argument));
  },
  function answers(node, { add, depth, parent }) {
    if (depth === 0 || parent.key === node) return; // constants of a module are words and limits, not behaviour
    if (parent.type === "ObjectProperty" && parent.key.name === "once") return; // of listeners for an abort, which comes once
    if (node.type === "BooleanLiteral") add(node, "boolean", String(!node.value));
    if (node.type === "NumericLiteral" && node.value < 10) add(node, "number", String(node.value + 1));
  },
  function chooses(node, { add, source }) {
    if (node.type !== "CallExpression" || !/MemberExpression$/.test(node.callee.type) || node.callee.computed) return;
    const { name } = node.callee.property;
    const others = { some: "every", every: "some", startsWith: "endsWith", endsWith: "startsWith", min: "max", max: "min" };
    const other = Object.hasOwn(others, name) ? others[name] : undefined; // `toString` is a name too
    const dropped = ["filter", "sort", "reverse", "trim", "slice"].includes(name);
    if (dropped) add(node, "drop", source(node.callee.object));
    const { start, end } = node.callee.property;
    const renamed = source({ start: node.start, end: start }) + other + source({ start: end, end: node.end });
    if (other) add(node, "method", renamed);
  },
  function acts(node, { add, source }) {
    if (node.type === "ThrowStatement") add(node, "no-throw", "", "statement");
    if (node.type === "ReturnStatement" && node.argument === null) add(node, "no-return", "", "statement");
    if (node.type !== "ExpressionStatement") return;
    const { expression } = node;
    const isEffect = /^(Call|Await|Assignment|Update|New)Expression$|^UnaryExpression$|^OptionalCallExpression$/.test(
      expression.type,
    );
    if (isEffect && !/^super\(|^["']/.test(source(expression))) add(node, "no-effect", "", "statement");
  },
];

/** Every node but those of types. `depth` counts the functions around it. */
function visit(node, parent, tell, depth = 0) {
  if (/^TS/.test(node.type) && !["TSAsExpression", "TSNonNullExpression", "TSSatisfiesExpression"].includes(node.type)) return;
  tell(node, parent, depth);
  const inside = /Function|Method|Class/.test(node.type) ? depth + 1 : depth;
  for (const [name, value] of Object.entries(node)) {
    if (["loc", "leadingComments", "trailingComments", "innerComments", "typeAnnotation", "extra", "errors"].includes(name))
      continue;
    for (const child of Array.isArray(value) ? value : [value])
      if (child && typeof child.type === "string" && child.start !== undefined) visit(child, node, tell, inside);
  }
}
