import { onTestFinished } from 'vitest';
import type { GatehouseOptions } from '../../../../src/index.ts';
import { type RunningGatehouse, startGatehouse } from '../../../support/gatehouse.ts';
import { createWalker } from '../../../support/upstreams/browse.ts';
import { type OpenIdUpstream, startOpenIdUpstream } from '../../../support/upstreams/open-id.ts';
import type { UpstreamPerson } from '../../../support/upstreams/people.ts';
import type { Visitor } from '../../../support/visitor.ts';
import type { OpenPage } from './account.ts';

/** A gatehouse with an OpenID provider as the upstream `work`. */
export interface Elsewhere {
  gatehouse: RunningGatehouse;
  work: OpenIdUpstream;
}

/** Starts both. @param over over the settings of the upstream @param options over those of the gatehouse */
export async function startElsewhere(
  over: object = {},
  options: Partial<GatehouseOptions> = {},
): Promise<Elsewhere> {
  const work = await startOpenIdUpstream();
  const upstreams = {
    work: work.settings({
      label: 'Work',
      scopes: ['openid', 'profile', 'email', 'offline_access'],
      authorizationParameters: { prompt: 'consent' },
      accounts: { create: true },
      ...over,
    }),
  };
  const gatehouse = await startGatehouse({
    dangerously: { upstreamsOverHttp: true },
    upstreams,
    ...options,
  } as Partial<GatehouseOptions>);
  work.allow(`${gatehouse.url}/upstream/work/callback`);
  onTestFinished(async () => {
    await gatehouse.stop();
    await work.stop();
  });
  return { gatehouse, work };
}

/** Posts the form that leads to the upstream, logs in there, and gives the page that follows here. */
export async function goThrough(
  visitor: Visitor,
  page: OpenPage,
  action: string,
  person: UpstreamPerson,
  answer: 'allow' | 'deny' = 'allow',
): Promise<OpenPage> {
  const fields: [string, string][] = action === '/link' ? [] : [['upstream', 'work']];
  const { response } = await visitor.submit(page, action, fields);
  const there = response.headers.get('location');
  if (there === null) throw new Error(`it leads nowhere: ${response.status}`);
  return visitor.open((await createWalker().walk(there, person, answer)).href);
}
