import { startGatehouse } from '../../../support/gatehouse.ts';
import { obtainTokens } from '../../../support/oauth.ts';
import type { ServerForm } from './forms.ts';

/** A protected resource of a running gatehouse, with an access token for it. */
export interface Resource {
  url: URL;
  accessToken: string;
}

/** A gatehouse in front of a server of the features. */
export interface Front {
  form: ServerForm;
  mcp: Resource;
  sse: Resource;
  rest: Resource;
  stop(): Promise<void>;
}

/** Starts one, and obtains tokens as clients do. */
export async function startFront(
  form: ServerForm,
  options: Parameters<typeof startGatehouse>[0] = {},
): Promise<Front> {
  const gatehouse = await startGatehouse({ server: form.bring(new Map()), ...options });
  const enter = async (path: string): Promise<Resource> => {
    const url = `${gatehouse.url}${path}`;
    const { tokens } = await obtainTokens({ ...gatehouse, mcpUrl: url }, { scope: 'mcp', scopes: ['mcp'] });
    return { url: new URL(url), accessToken: tokens.access_token };
  };
  return {
    form,
    mcp: await enter('/mcp'),
    sse: await enter('/sse'),
    rest: await enter('/rest'),
    stop: () => gatehouse.stop(),
  };
}
