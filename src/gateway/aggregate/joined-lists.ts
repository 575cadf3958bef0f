import type { RequestMessage } from '../../mcp/checks/messages.ts';
import type { Sender } from '../../mcp/conversations/conversation.ts';
import type { Cursors } from '../../mcp/paging.ts';
import { principalKey } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import type { Logger } from '../../observability/logger.ts';
import { backendError } from '../backends/backend-errors.ts';
import type { Answer } from '../steps/step.ts';
import { maxToolNameLength } from './final-names.ts';
import { gather, type Missing } from './gathering.ts';
import type { Member } from './member.ts';
import type { OpenQuestions, Question } from './open-questions.ts';
import { finalEntry, type ListKind } from './renaming.ts';

/** What lists are joined with. */
export interface JoiningOptions {
  members: readonly Member[];
  questions: OpenQuestions;
  cursors: Cursors;
  logger: Pick<Logger, 'warn'>;
}

/** A page of a list of several backends. */
export interface JoinedPage {
  entries: Record<string, unknown>[];
  /** Where the next page begins, if there is one. */
  nextCursor: string | undefined;
  /** Backends that have no part in it though they may have entries. */
  missing: readonly Missing[];
}

/** How long a backend may take for its part of a list, in milliseconds; then the list is given without it. */
const listMs = 20_000;

/**
 * Asks several backends for their parts of a list. A cursor holds where each of them stands, and only whoever got it
 * can use it (C6-06, T-158).
 * @throws ProtocolError with -32602 for a cursor that was not given out for this list and caller
 */
export async function joinList(
  list: ListKind,
  request: RequestMessage,
  sender: Sender,
  { members, questions, cursors, logger }: JoiningOptions,
): Promise<JoinedPage> {
  const { method, id: of, params: { cursor, _meta: _ignored, ...params } = {} } = request;
  const scope = sender.authInfo && principalKey(sender.authInfo);
  const positions =
    typeof cursor === 'string' && cursor !== ''
      ? new Map(JSON.parse(cursors.read(cursor, method, scope)) as [string, string][])
      : undefined;
  const asked = members.filter(({ key }) => !positions || positions.has(key));
  const missing = await gather(asked);
  const parts = await Promise.all(
    asked
      .filter(({ result, isOpen }) => isOpen && result?.capabilities[list.capability] !== undefined)
      .map(async (member) => {
        const at = positions?.get(member.key);
        const page = at === undefined ? params : { ...params, cursor: at };
        return { member, answer: await askInTime(questions, member, { of, method, params: page }, sender) };
      }),
  );
  const entries: Record<string, unknown>[] = [];
  const next: [string, string][] = [];
  for (const { member, answer } of parts) {
    const { result, error } = answer;
    if (error && error.code !== errorCodes.methodNotFound) missing.push({ member, error });
    const own = result?.[list.member];
    if (Array.isArray(own)) entries.push(...finalEntries(member, list, own, logger));
    if (typeof result?.nextCursor === 'string') next.push([member.key, result.nextCursor]);
  }
  const nextCursor = next.length > 0 ? cursors.write(JSON.stringify(next), method, scope) : undefined;
  return { entries, nextCursor, missing };
}

/** Asks a backend for as long as others are kept waiting for it. */
async function askInTime(
  questions: OpenQuestions,
  member: Member,
  question: Question,
  sender: Sender,
): Promise<Answer> {
  const timer = setTimeout(() => {
    const error = backendError('backend_call_timed_out', member.backend.name);
    questions.giveUp(question.of, { error, sender, member });
  }, listMs).unref();
  return questions.ask(member, question, sender).finally(() => clearTimeout(timer));
}

function finalEntries(
  member: Member,
  list: ListKind,
  own: readonly unknown[],
  logger: JoiningOptions['logger'],
): Record<string, unknown>[] {
  const entries = own
    .map((entry) => finalEntry(member.key, list, entry))
    .filter((entry) => entry !== undefined);
  if (list.member !== 'tools') return entries;
  return entries.flatMap(({ execution: _tasks, ...tool }) => {
    const { length } = String(tool.name);
    if (length <= maxToolNameLength) return [tool];
    logger.warn(
      { backend: member.backend.name, length },
      'a tool is left out: its name and the key of its backend are longer than 128 characters; give a shorter key',
    );
    return [];
  });
}
