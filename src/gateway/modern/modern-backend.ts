import { paramHeaders } from '../../client/transports/param-headers.ts';
import { createRecentSchemas, discoverBy } from '../../mcp/building-blocks.ts';
import type { Answer, Backend, Call, Caller } from '../../mcp/protocol.ts';
import { errorCodes } from '../../oauth/mcp-error-codes.ts';
import { type Discoveries, namesModern } from './eras.ts';
import { ModernCall, ModernListening } from './modern-call.ts';
import type { FailureDetail, ModernFailure, ModernLink } from './modern-link.ts';

/** Options of the backend of 2026-07-28. */
interface ModernBackendOptions {
  /** Name of the backend. */
  name: string;
  /** Milliseconds that the response to `server/discover` may take. */
  startMs: number;
  link: ModernLink;
  discoveries: Discoveries;
  /** The server answered like one that does not speak 2026-07-28. */
  doubted(caller: Caller): void;
  /** Takes note of a response. */
  worked(): void;
  /** Takes note of a request without a response. */
  noteFailure(detail: FailureDetail): void;
}

/**
 * Creates a backend that passes requests of 2026-07-28 on to a server, and its responses back, unchanged.
 * @see MCP 2026-07-28 "Request Metadata" (C1-08, C3-01, C4-06)
 */
export function createModernBackend(options: ModernBackendOptions): Backend {
  const { name, startMs, link, discoveries, doubted, worked, noteFailure } = options;
  let lastId = 0;
  const nextId = (): number => ++lastId;
  const schemas = createRecentSchemas((call) => begin(call));

  const parametersOf = async (
    { request: { params }, caller }: Call,
    isStale: boolean,
  ): Promise<readonly string[]> => {
    if (isStale) schemas.forget();
    const schema = await schemas.find(String(params?.name), caller);
    return withUnknown(paramHeaders(schema, params?.arguments), caller);
  };

  const answered = ({ result, error }: Answer, { request, caller }: Call): void => {
    worked();
    if (result && request.method === 'server/discover') discoveries.keep(caller, result);
    if (error?.code === errorCodes.unsupportedProtocolVersion && !namesModern({ error })) doubted(caller);
  };
  const failed = ({ isOther, detail }: ModernFailure, { caller }: Call): void => {
    if (detail) noteFailure(detail);
    if (isOther) doubted(caller);
  };

  const begin = (call: Call): (() => void) => {
    const known = call.request.method === 'server/discover' ? discoveries.find(call.caller) : undefined;
    if (known) {
      let isOver = false;
      queueMicrotask(() => {
        if (!isOver) call.answer({ status: 200, result: known });
      });
      return () => {
        isOver = true;
      };
    }
    const running = new ModernCall(call, { name, startMs, link, nextId, parametersOf, answered, failed });
    return () => running.cancel();
  };

  return {
    // What a program says of `_meta` that lacks something (-32602) looks like what it says of a tool's arguments, which
    // has another status (C3-01).
    checksEnvelope: link.isHttp ? 'all' : 'values',
    begin,
    // The notifications of 2026-07-28 are about requests, and requests end with their stream.
    notify() {},
    discover: (caller) => discoverBy(begin, caller),
    inputSchemaOf: (tool, caller) => schemas.find(tool, caller),
    listen(filter, about, listener) {
      const listening = new ModernListening({
        link,
        filter,
        about,
        nextId,
        listener: {
          begun: () => listener.begun?.(),
          tell(change) {
            if (change.method === 'notifications/tools/list_changed') schemas.forget();
            listener.tell(change);
          },
          ended: () => listener.ended(),
        },
      });
      return () => listening.end();
    },
    close: () => link.close(),
  };
}

/** Adds the caller's headers of unknown parameters (B5-12). */
function withUnknown(known: Readonly<Record<string, string>>, { headers }: Caller): string[] {
  const unknown = Object.entries(headers).filter(
    ([name, value]) =>
      name.startsWith('mcp-param-') && typeof value === 'string' && !isNamed(known, name) && isPlain(value),
  );
  return [...Object.entries(known), ...unknown].flat() as string[];
}

function isNamed(known: Readonly<Record<string, string>>, name: string): boolean {
  return Object.keys(known).some((one) => one.toLowerCase() === name);
}

function isPlain(value: unknown): boolean {
  return /^[\t\x20-\x7e]*$/.test(String(value));
}
