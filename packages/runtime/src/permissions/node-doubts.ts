import type { SyntaxNode } from "unbash";
import type { ScriptNumbers } from "./script-numbers.ts";
import { hasComputedPlace, isClearExpansion, isTakenForPlain } from "./shell-syntax.ts";

/** A word, quoted as a whole or not at all. Bash's own rules for others are odd: with `<<-` one that begins with a tab ends at a line with that tab. */
const plainDelimiter = /^(?:[\w.!:@%+-]+|'[\w .!:@%+-]*'|"[\w .!:@%+-]*"|\\\w[\w.!:@%+-]*)$/;

/**
 * Why one piece of syntax may do more than its parts tell; undefined for the forms that are understood.
 * Everything bash can be told to do is on this list; what is not on it is in doubt.
 */
export function doubtAbout(node: SyntaxNode, numbers: ScriptNumbers): string | undefined {
  const isIndex = numbers.isIndex.bind(numbers);
  switch (node.type) {
    case "CommandExpansion":
    case "ArithmeticCommandExpansion":
    case "ProcessSubstitution":
      // Positions in a script with its own source mean nothing here.
      return !node.script || node.script.source?.includes("((") ? "it may compute with ((…))" : undefined;
    case "Coproc":
      return "it has a coprocess";
    case "Function":
      return "it defines a function";
    case "Select":
      return "it lets somebody select";
    case "ArithmeticFor":
      return [node.initialize, node.test, node.update].every((part) => numbers.computesSafely(part)) ? undefined : computes;
    case "ArithmeticExpansion":
      if (node.text.startsWith("$[")) return "it computes with $[…]";
      return numbers.computesSafely(node.expression) ? undefined : computes;
    case "ArithmeticCommand":
      return numbers.computesSafely(node.expression) ? undefined : computes;
    case "Assignment":
      return node.index && !isIndex(node.index) ? "it computes a subscript" : undefined;
    case "ArrayValue":
      return node.elements.some(hasComputedPlace) ? "it computes a subscript" : undefined;
    case "ParameterExpansion":
      return !isClearExpansion(node, isIndex) ? `it evaluates ${node.text}` : undefined;
    case "ExtendedGlob":
      return "it has an extended pattern";
    case "LocaleString":
      return "it has translated text";
    case "TestBinary":
      return /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator) && ![node.left, node.right].every((word) => numbers.isNumber(word))
        ? `[[ … ${node.operator} … ]] computes`
        : undefined;
    case "TestUnary":
      return /^-[vR]$/.test(node.operator) && !/^\w+$/.test(node.operand.text) ? "it tests a computed variable" : undefined;
    case "HereDocDelimiter":
      return plainDelimiter.test(node.text) ? undefined : `its here-document ends in an odd way: ${node.text}`;
    case "Word":
      return isTakenForPlain(node) ? `${node.text} is not understood` : undefined;
    case "Script":
    case "Command":
    case "Statement":
    case "AndOr":
    case "Pipeline":
    case "Subshell":
    case "While":
    case "For":
    case "If":
    case "Case":
    case "Redirect":
    case "HereString":
    case "HereDoc":
    case "SingleQuoted":
    case "AnsiCQuoted":
    case "DoubleQuoted":
    case "Literal":
    case "HereDocBody":
    case "SimpleExpansion":
    case "Glob":
    case "BraceExpansion":
    case "CompoundList":
    case "BraceGroup":
    case "Elif":
    case "CaseItem":
    case "Redirected":
    case "Time":
    case "Negation":
    case "TestCommand":
    case "TestLogical":
    case "TestNot":
    case "TestGroup":
    case "FileDescriptor":
    case "FileDescriptorVariable":
    case "ArithmeticBinary":
    case "ArithmeticUnary":
    case "ArithmeticTernary":
    case "ArithmeticGroup":
    case "ArithmeticWord":
    case "Default":
    case "Remove":
    case "Replace":
    case "Slice":
    case "CaseModification":
    case "Transform":
      return undefined;
    default:
      return `it has a ${node.type}, which is not understood`;
  }
}

const computes = "it computes with what may be more than a number";
