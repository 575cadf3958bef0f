import { isSpecType, specTypeSchemas } from '@modelcontextprotocol/server';
import { plainJson } from '../../collections/exact-json.ts';
import type { Cursors } from '../../mcp/building-blocks.ts';
import { isRecord, type RequestMessage, type Sender } from '../../mcp/protocol.ts';
import { principalKey } from '../../oauth/auth-info.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { loggable } from '../../observability/loggable.ts';
import type { Logger } from '../../observability/logger.ts';
import { backendError } from '../backends/backend-errors.ts';
import type { Answer } from '../steps/step.ts';
import { maxToolNameLength } from './final-names.ts';
import { gather, type Member, type MemberBackend, type Missing } from './member.ts';
import type { OpenQuestions, Question } from './open-questions.ts';
import { finalEntry, type ListKind } from './renaming.ts';

/** Options of joined lists. */
interface JoiningOptions {
  members: readonly Member[];
  questions: OpenQuestions;
  cursors: Cursors;
  logger: Pick<Logger, 'warn'>;
}

/** A page of a list of several backends. */
interface JoinedPage {
  entries: Record<string, unknown>[];
  /** Start of the next page, if there is one. */
  nextCursor: string | undefined;
  /** Backends that may have entries, but are missing from the page. */
  missing: readonly Missing[];
}

/** Maximum time for a backend's part of a list, in milliseconds; then the list is sent without it. */
const listMs = 20_000;

/**
 * Requests the parts of a list from several backends. A cursor contains the position in each of them, and only its
 * receiver can use it (C6-06, T-158).
 * @throws ProtocolError with -32602 for a cursor that was not issued for this list and caller
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

/** Requests the part of one backend, with a time limit. */
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

/**
 * Returns the entries of a backend that follow the schema: clients reject a whole list for one invalid entry, with
 * those of other backends.
 */
function finalEntries(
  member: Member,
  list: ListKind,
  own: readonly unknown[],
  logger: JoiningOptions['logger'],
): Record<string, unknown>[] {
  const { name: backend } = member.backend;
  return own.flatMap((entry) => {
    const final = finalEntry(member.key, list, entry);
    const fault = findFault(list.type, plainJson(entry));
    if (!final || fault !== undefined) {
      const name = loggable(String(Object(entry)[list.name] ?? ''));
      if (isFirst(member.backend, `${list.type} ${name} ${fault}`))
        logger.warn(
          { backend, type: list.type, name, fault: loggable(fault ?? 'it has no name') },
          'an entry of a list is left out: it breaks the schema of MCP, and clients would refuse the whole list',
        );
      return [];
    }
    if (list.type !== 'Tool') return [final];
    const { execution: _tasks, ...tool } = final;
    const { length } = String(tool.name);
    if (length <= maxToolNameLength) return [tool];
    if (isFirst(member.backend, `long ${tool.name}`)) logger.warn({ backend, length }, tooLong);
    return [];
  });
}

const tooLong =
  'a tool is left out: its name and the key of its backend are longer than 128 characters; give a shorter key';

/** Describes how an entry breaks the schema, in any revision up to 2025-11-25; undefined if it is valid. */
function findFault(type: ListKind['type'], entry: unknown): string | undefined {
  if (!isSpecType[type](entry)) {
    const checked = specTypeSchemas[type]['~standard'].validate(entry);
    const [issue] = ('issues' in checked && checked.issues) || [];
    const place = issue?.path?.map((part) => String(Object(part).key ?? part)).join('.');
    return `${place ? `${place}: ` : ''}${issue?.message ?? 'not of this type'}`;
  }
  if (type !== 'Tool') return undefined;
  const { inputSchema, outputSchema } = entry as Record<string, unknown>;
  if (!hasObjectSchemas(inputSchema)) return 'inputSchema.properties: not schemas';
  return outputSchema === undefined ||
    (Object(outputSchema).type === 'object' && hasObjectSchemas(outputSchema))
    ? undefined
    : 'outputSchema: not the schema of an object';
}

/**
 * Returns true if no property of a schema is `true`, which 2026-07-28 allows, but earlier revisions and version 1 of
 * the SDK do not.
 */
function hasObjectSchemas(schema: unknown): boolean {
  const { properties = {} } = Object(schema) as { properties?: unknown };
  return isRecord(properties) && Object.values(properties).every(isRecord);
}

/** Maximum number of remembered faults, each of which is logged once. */
const maxTold = 1000;
const told = new WeakMap<MemberBackend, Set<string>>();

function isFirst(backend: MemberBackend, fault: string): boolean {
  const known = told.get(backend) ?? new Set();
  told.set(backend, known);
  if (known.has(fault) || known.size >= maxTold) return false;
  known.add(fault);
  return true;
}
