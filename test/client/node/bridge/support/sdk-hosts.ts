import { Client as ClientV2, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

/** What a person and a model at a host answer in tests. */
const answers = {
  elicitation: {
    action: 'accept' as const,
    content: { name: 'Ada', username: 'Ada', email: 'ada@example.com' },
  },
  sampling: { role: 'assistant' as const, model: 'm', content: { type: 'text' as const, text: 'thought' } },
  roots: { roots: [{ uri: 'file:///work' }] },
};

const capabilities = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } };

/** An application with SDK v1 that answers all a server may ask. */
export function hostV1(): ClientV1 {
  const client = new ClientV1({ name: 'host', version: '1' }, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, async () => answers.elicitation);
  client.setRequestHandler(CreateMessageRequestSchema, async () => answers.sampling);
  client.setRequestHandler(ListRootsRequestSchema, async () => answers.roots);
  return client;
}

/** An application with SDK v2 that answers all a server may ask. */
export function hostV2(mode: VersionNegotiationMode = 'auto'): ClientV2 {
  const client = new ClientV2({ name: 'host', version: '1' }, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', async () => answers.elicitation);
  client.setRequestHandler('sampling/createMessage', async () => answers.sampling);
  client.setRequestHandler('roots/list', async () => answers.roots);
  return client;
}
