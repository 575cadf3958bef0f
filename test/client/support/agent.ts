import {
  type AuthorizationAgent,
  type AuthorizationRequest,
  loopbackRedirectUris,
} from '../../../src/client/index.ts';

/** An agent without a person, for servers that consent by themselves: it follows the redirect and remembers. */
export interface HeadlessAgent extends AuthorizationAgent {
  requests: AuthorizationRequest[];
  /** Changes the answer before it is handed over. */
  change: (query: URLSearchParams) => void;
}

/** @returns an agent that reads the answer from the redirect of the authorization endpoint */
export function headlessAgent(): HeadlessAgent {
  const agent: HeadlessAgent = {
    redirectUri: 'http://127.0.0.1:4711/callback',
    registeredRedirectUris: loopbackRedirectUris,
    requests: [],
    change: () => undefined,
    receive: async (request) => {
      agent.requests.push(request);
      const response = await fetch(request.url, { redirect: 'manual' });
      const query = new URL(response.headers.get('location') ?? '').searchParams;
      agent.change(query);
      return query;
    },
  };
  return agent;
}
