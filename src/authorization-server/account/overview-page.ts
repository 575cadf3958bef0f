import type { OneTimeCodeStore, PasskeyStore } from '../../storage/accounts.ts';
import type { AuditLog } from '../audit.ts';
import { redirectSeeOther, showPage } from '../interactions/page.ts';
import { renderAccountOverview, renderAppEnding } from '../views/account/overview.ts';
import { PageMissing, type PersonalRequest } from './account-request.ts';
import type { BrowserLogins } from './browser-logins.ts';
import type { ClientSummaries, ConnectedApps, McpConnections } from './connected-apps.ts';
import type { OwnCredentials } from './credentials-page.ts';
import type { LinkedUpstreams } from './linked-upstreams.ts';

/** Options of the overview. */
export interface OverviewOptions {
  apps: ConnectedApps;
  browsers: BrowserLogins;
  mcpConnections: McpConnections;
  describeClient: ClientSummaries;
  passkeys: PasskeyStore;
  oneTimeCodes: OneTimeCodeStore;
  linked: LinkedUpstreams;
  credentials: Pick<OwnCredentials, 'list'>;
  audit: AuditLog;
}

/** Shows who may act for the person, what is open, and how they log in. */
export async function showOverview(request: PersonalRequest, options: OverviewOptions): Promise<void> {
  const { ctx, texts, url, csrf, who } = request;
  const { id, email } = who.account;
  const elsewhere = await options.linked.list(id);
  const labels = new Map(elsewhere.linked.map(({ name, label }) => [name, label]));
  const connections = await options.mcpConnections.list(id);
  const fields = (await options.credentials.list(id)).flatMap((route) => route.fields);
  const browsers = await options.browsers.list(id, who.session.uid);
  const page = renderAccountOverview(texts, {
    url,
    csrf,
    email,
    ended: endings.find((one) => one === ctx.query.ended),
    apps: await options.apps.list(id),
    connections: await Promise.all(
      connections.map(async ({ key, clientId, ...session }) => ({
        id: key,
        client: await options.describeClient(clientId),
        ...session,
      })),
    ),
    browsers: browsers.map(({ upstream, ...login }) =>
      upstream === undefined ? login : { ...login, upstream: labels.get(upstream) ?? upstream },
    ),
    passkeys: (await options.passkeys.listOf(id)).length,
    hasOneTimeCodes: (await options.oneTimeCodes.find(id)) !== undefined,
    upstreams: elsewhere.linked.length + elsewhere.others.length === 0 ? undefined : elsewhere.linked.length,
    credentials:
      fields.length === 0
        ? undefined
        : {
            entered: fields.filter(({ enteredAt }) => enteredAt !== undefined).length,
            missing: fields.filter(({ enteredAt }) => enteredAt === undefined).length,
          },
  });
  showPage(ctx, page);
}

/**
 * Shows what ends with an app.
 * @throws PageMissing if it is not one of the person's
 */
async function askBeforeEnd(request: PersonalRequest, apps: ConnectedApps): Promise<void> {
  const { ctx, texts, url, csrf, who } = request;
  const id = requiredId(request);
  const app = (await apps.list(who.account.id)).find((each) => each.id === id);
  if (!app) throw new PageMissing();
  showPage(ctx, renderAppEnding(texts, { url, csrf, app }));
}

function requiredId({ form }: PersonalRequest): string {
  return form.get('id') ?? '';
}

/** Values of `ended`, by which the overview says behind a redirect that something was ended; it says nothing of others. */
const endings = ['app', 'connection', 'browser', 'browsers'] as const;

/** Goes back to the overview, which tells what was ended. */
function tellEnding({ ctx, url }: PersonalRequest, ending: (typeof endings)[number]): void {
  redirectSeeOther(ctx, `${url}?ended=${ending}`);
}

/**
 * Asks before a connected app is ended, then ends it: it may not be set up again in a minute (FA-61).
 * @throws PageMissing if it is not one of the person's (T-124)
 */
export async function endApp(request: PersonalRequest, { apps, audit }: OverviewOptions): Promise<void> {
  const accountId = request.who.account.id;
  if (request.form.get('confirm') !== 'yes') return askBeforeEnd(request, apps);
  const clientId = await apps.end(accountId, requiredId(request));
  if (clientId === undefined) throw new PageMissing();
  audit('grant.revoked', request.ctx, { accountId, clientId, reason: 'account page' });
  tellEnding(request, 'app');
}

/**
 * Ends an MCP session.
 * @throws PageMissing if it is not one of the person's
 */
export async function endConnection(
  request: PersonalRequest,
  { mcpConnections, audit }: OverviewOptions,
): Promise<void> {
  const accountId = request.who.account.id;
  if (!(await mcpConnections.end(accountId, requiredId(request)))) throw new PageMissing();
  audit('mcp_session.ended', request.ctx, { accountId });
  tellEnding(request, 'connection');
}

/**
 * Ends a login in another browser.
 * @throws PageMissing if it is not one of the person's
 */
export async function endBrowser(
  request: PersonalRequest,
  { browsers, audit }: OverviewOptions,
): Promise<void> {
  const accountId = request.who.account.id;
  if (!(await browsers.end(accountId, requiredId(request)))) throw new PageMissing();
  audit('login.ended', request.ctx, { accountId });
  tellEnding(request, 'browser');
}

/** Ends every login but the one of this browser. */
export async function endOtherBrowsers(
  request: PersonalRequest,
  { browsers, audit }: OverviewOptions,
): Promise<void> {
  const { account, session } = request.who;
  const ended = await browsers.endOthers(account.id, session.uid);
  audit('login.ended', request.ctx, { accountId: account.id, count: String(ended) });
  tellEnding(request, 'browsers');
}
