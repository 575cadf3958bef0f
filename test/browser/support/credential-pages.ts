import type { Page } from 'playwright-core';
import { type RunningGatehouse, startGatehouse } from '../../support/gatehouse.ts';
import { logIn } from './login.ts';
import type { KnownPage } from './pages.ts';

/** The one of the page that is open: MCP servers behind the gate, which the others do without. */
let behind: RunningGatehouse | undefined;

async function clear(): Promise<void> {
  await behind?.stop();
  behind = undefined;
}

/** Opens a page of a gatehouse with two servers that need keys; one key is entered. */
async function openCredentials(page: Page, path = ''): Promise<void> {
  const backend = { command: 'true' };
  behind = await startGatehouse({
    routes: {
      notion: {
        name: 'Notion for the whole company',
        backend,
        credentials: {
          apiKey: {
            label: 'Notion key',
            help: 'In Notion: Settings, Connections, Develop or manage integrations. Copy its secret.',
            as: { env: 'NOTION_TOKEN' },
          },
          space: { label: 'Unbreakable'.repeat(5), as: { env: 'NOTION_SPACE' } },
        },
      },
      files: { backend, credentials: { password: { as: { env: 'FILES_PASSWORD' } } } },
    },
  });
  const [ada] = await behind.administration.accounts.list();
  const key = { accountId: ada?.id ?? '', route: 'notion', name: 'apiKey' };
  await behind.storage.backendCredentials.put(key, Buffer.from('sealed'), 1_800_000_000);
  await behind.storage.backendCredentials.put(
    { ...key, name: 'earlier' },
    Buffer.from('sealed'),
    1_790_000_000,
  );
  await page.goto(`${behind.url}/account/credentials${path}`);
  await logIn(page);
}

/** The pages of keys for MCP servers. */
export const credentialPages: readonly KnownPage[] = [
  { name: 'account-credentials', open: (_scene, page) => openCredentials(page), clear },
  { name: 'account-credentials-of-server', open: (_scene, page) => openCredentials(page, '/notion'), clear },
  {
    name: 'account-credentials-of-another',
    open: (_scene, page) => openCredentials(page, `/notion/${'0'.repeat(16)}`),
    clear,
  },
];
