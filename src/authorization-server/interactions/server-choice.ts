import type { Context } from 'koa';
import { formatScope, parseScope } from '../../oauth/scope.ts';
import type { AuditLog } from '../audit.ts';
import { completeRequest } from '../endpoints/authorization-endpoint.ts';
import { undecidedResource } from '../engine/granted-scopes.ts';
import type { ResourceRegistry } from '../resources.ts';
import { textsFor } from '../texts/page-texts.ts';
import { renderServerChoice } from '../views/server-choice.ts';
import { denyAccess } from './deny-access.ts';
import { csrfToken, FormRefused } from './form.ts';
import { type AskedFor, chooseServer, type Interaction } from './interaction.ts';
import { redirectSeeOther, showPage } from './page.ts';

/** Options of the page. */
export interface ServerChoiceOptions {
  resources: ResourceRegistry;
  audit: AuditLog;
  /** Cookie keys of the installation. */
  csrfKeys: readonly string[];
  /** Absolute URL of an interaction's page. */
  pageUrl: (uid: string) => string;
}

/**
 * Shows the page on which a person chooses the server that an app means: clients of 2025-03-26 have no `resource` to say
 * it (FA-20). Login and consent follow, for that server.
 */
export function showServers(
  ctx: Context,
  { csrfKeys, pageUrl }: ServerChoiceOptions,
  interaction: Interaction,
  { client, resource: { choices = [] } }: AskedFor,
): void {
  const html = renderServerChoice(textsFor(ctx), {
    action: `${pageUrl(interaction.uid)}/server`,
    csrf: csrfToken(csrfKeys, 'server', interaction.uid),
    client,
    servers: choices,
  });
  showPage(ctx, html);
}

/** The scopes of a request, now that its resource is known. */
function scopesFor(chosen: string, interaction: Interaction, asked: AskedFor, resources: ResourceRegistry) {
  const sent = parseScope(String(interaction.params.scope ?? ''));
  const isUnscoped = asked.resource.resource === undecidedResource.unscoped;
  const kept = isUnscoped ? sent.filter((scope) => !resources.scopes.includes(scope)) : sent;
  const parameters = new URLSearchParams({ resource: chosen, scope: formatScope(kept) });
  completeRequest(parameters, resources);
  return parameters.get('scope') ?? '';
}

/** Carries out the choice of a server, or denies access. */
export async function submitServer(
  ctx: Context,
  options: ServerChoiceOptions,
  interaction: Interaction,
  asked: AskedFor,
  form: URLSearchParams,
): Promise<void> {
  if (form.get('decision') !== 'choose') return denyAccess(ctx, options.audit, interaction, asked);
  const chosen = asked.resource.choices?.find(({ resource }) => resource === form.get('resource'));
  if (!chosen) throw new FormRefused(400, 'The form names no server that is offered.');
  const { resource } = chosen;
  chooseServer(interaction, resource, scopesFor(resource, interaction, asked, options.resources));
  await interaction.persist();
  redirectSeeOther(ctx, options.pageUrl(interaction.uid));
}
