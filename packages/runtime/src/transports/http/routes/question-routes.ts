import type { Answer as PermissionAnswer } from "../../../permissions/gate.ts";
import { RuntimeError } from "../../../protocol/errors.ts";
import { checkAnswer } from "../client.ts";
import type { Route } from "../route.ts";
import * as schemas from "../schemas.ts";

/** What a session waits to be told. The first answer counts. */
export const questionRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/sessions/{id}/questions",
    operationId: "listQuestions",
    summary: "Permissions and other questions that wait for an answer",
    scope: "view",
    answers: {
      200: {
        description: "The events that asked",
        schema: {
          title: "Questions",
          type: "object",
          properties: { questions: schemas.list(schemas.event) },
          required: ["questions"],
        },
      },
    },
    async handle({ sessions, client, params: { id = "" } }) {
      const served = await sessions.look(client, id);
      return { status: 200, body: { questions: served?.questions.all ?? [] } };
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/permissions/{requestId}",
    operationId: "answerPermission",
    summary: "Allows or denies what a session asked about",
    scope: "approve",
    body: schemas.permissionAnswer,
    answers: { 200: { description: "It counts", schema: schemas.nothing } },
    async handle({ sessions, client, params: { id = "", requestId = "" }, body }) {
      const answer = body as PermissionAnswer; // it fits the schema
      checkAnswer(client, answer);
      const served = await sessions.look(client, id);
      if (!served) throw new RuntimeError("not-found", `There is no open permission request ${requestId}`);
      served.session.answerPermission(requestId, answer);
      return { status: 200, body: {} };
    },
  },
  {
    method: "POST",
    path: "/v1/sessions/{id}/questions/{questionId}",
    operationId: "answerQuestion",
    summary: "Answers what a command asked; without a value it is cancelled",
    scope: "drive",
    body: schemas.questionAnswer,
    answers: { 200: { description: "It counts", schema: schemas.nothing } },
    async handle({ sessions, client, params: { id = "", questionId = "" }, body }) {
      const { value } = body as { value?: string }; // it fits the schema
      const served = await sessions.look(client, id);
      if (!served?.session.answerInteraction(questionId, value))
        throw new RuntimeError("not-found", `There is no open question ${questionId}`);
      return { status: 200, body: {} };
    },
  },
];
