import type { RuntimeError } from "../protocol/errors.ts";
import { findModel, loadCatalog, nearestModel } from "./catalog.ts";

/** A provider that does not have a model says little more than that; this adds which one was probably meant. */
export async function hintAtModel(error: RuntimeError, asked: { provider: string; model: string }): Promise<RuntimeError> {
  if (error.hint !== undefined || !isAboutModel(error)) return error;
  const catalog = await loadCatalog();
  const meant = findModel(catalog, asked) ? undefined : nearestModel(catalog, asked.provider, asked.model);
  const first = meant ? `Did you mean ${meant}?` : "Check the model's name and the base URL:";
  return error.restated({ hint: `${first} \`outrider models ${asked.provider}\` lists those that are known` });
}

function isAboutModel({ httpStatus, message }: RuntimeError): boolean {
  return httpStatus === 404 || aboutModel.test(message);
}

const aboutModel =
  /\bmodel\b.{0,80}\b(?:not found|not exist|unknown|not a valid|not supported)\b|\b(?:unknown|invalid|no such) model\b/i;
