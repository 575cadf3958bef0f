import { post } from '../../../support/oauth.ts';

/** What a process is told to send, and where to. */
export interface Errand {
  url: string;
  form: Record<string, string>;
  headers: Record<string, string>;
}

/** What came back. */
export interface Reply {
  status: number;
  body: Record<string, unknown>;
}

process.on('message', ({ url, form, headers }: Errand) => {
  void post(url, form, headers).then(
    async (response) => process.send?.({ status: response.status, body: await response.json() } as Reply),
    (error: unknown) => process.send?.({ status: 0, body: { error: String(error) } } satisfies Reply),
  );
});
process.send?.('ready');
