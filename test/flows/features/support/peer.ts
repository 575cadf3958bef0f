import type { Person } from './person.ts';

/** What a call may be made with. */
export interface CallOptions {
  onprogress?: (progress: {
    progress: number;
    total?: number | undefined;
    message?: string | undefined;
  }) => void;
  signal?: AbortSignal;
  timeout?: number;
  resetTimeoutOnProgress?: boolean;
  maxTotalTimeout?: number;
}

/** A result, as the client's SDK gives it. */
export type Result = Record<string, unknown>;

/** A connected client of either version of the SDK. */
export interface Peer {
  person: Person;
  /** Notifications it heard that belong to no call of its own. */
  heard: { method: string; params?: Record<string, unknown> | undefined }[];
  /** What its SDK complained about. */
  complaints: string[];
  revision: string | undefined;
  server: { version: unknown; capabilities: unknown; instructions: unknown };
  /** Calls a tool. */
  call(name: string, input?: Record<string, unknown>, options?: CallOptions, meta?: object): Promise<Result>;
  listTools(): Promise<Result>;
  listTemplates(): Promise<Result>;
  listPrompts(): Promise<Result>;
  read(uri: string): Promise<Result>;
  getPrompt(name: string, args?: Record<string, string>): Promise<Result>;
  complete(
    ref: object,
    argument: { name: string; value: string },
    args?: Record<string, string>,
  ): Promise<Result>;
  ping(): Promise<Result>;
  /** Sends a request as it stands. */
  ask(method: string, params?: Record<string, unknown>): Promise<Result>;
  /** Hears of changes of a resource, and of lists, until it is told to stop. */
  listen(uri: string): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** What a client is opened with. */
export interface PeerOptions {
  revision: string;
  /** What it says it can do. */
  capabilities: Record<string, unknown>;
}

/** Everything a client can be asked. */
export const allAbilities = {
  roots: { listChanged: true },
  sampling: { tools: {}, context: {} },
  elicitation: { form: { applyDefaults: true }, url: {} },
};

/** Methods a client with such capabilities answers. */
export function methodsOf(
  capabilities: object,
): ('roots/list' | 'sampling/createMessage' | 'elicitation/create')[] {
  return [
    ...('roots' in capabilities ? (['roots/list'] as const) : []),
    ...('sampling' in capabilities ? (['sampling/createMessage'] as const) : []),
    ...('elicitation' in capabilities ? (['elicitation/create'] as const) : []),
  ];
}

/** The text of a result's first content. */
export function textOf({ content }: Result): string {
  const [first] = content as { text?: string }[];
  return first?.text ?? '';
}
