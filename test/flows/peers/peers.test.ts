import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodes } from '../../../src/cli/cli-error.ts';
import { testFolderForFile } from '../../support/folder.ts';
import { examineActively, examinePassively } from './support/examination.ts';
import { activeFindings, passiveFindings } from './support/findings.ts';
import { installPeers } from './support/installation.ts';
import { type Peer, peerNames, startPeer } from './support/peer.ts';
import { peerUser } from './support/user.ts';

const folder = testFolderForFile();
beforeAll(installPeers, 180_000);

/** Peers that issue refresh tokens, and those whose access tokens end with a logout. */
const renewing = ['oidc-provider', 'better-auth', 'workers-oauth-provider'];
const ending = ['oidc-provider', 'workers-oauth-provider'];

/** Keeps a port from others while `work` runs. */
async function withPortTaken<T>(port: number, work: () => Promise<T>): Promise<T> {
  const server = createServer();
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(port, '127.0.0.1', resolve),
  );
  try {
    return await work();
  } finally {
    server.close();
  }
}

describe.each(peerNames)('at %s', (name) => {
  let peer: Peer;
  let user: ReturnType<typeof peerUser>;
  beforeAll(async () => {
    peer = await startPeer(name);
    user = peerUser(peer.mcpUrl, join(folder, name));
  });
  afterAll(() => peer?.stop());

  const greeted = async (): Promise<void> => {
    const { code, stdout, stderr } = await user.run('call', peer.mcpUrl, 'greet', '--json');
    expect(code, stderr).toBe(exitCodes.ok);
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ text: 'Hello' }] });
  };

  it('gatehouse logs in, lists tools, calls one, renews, logs in again from another port, and logs out', async () => {
    const first = await user.login();
    expect(first.code, first.stderr).toBe(exitCodes.ok);
    const tools = await user.run('tools', peer.mcpUrl, '--json');
    expect(tools.code, tools.stderr).toBe(exitCodes.ok);
    expect(JSON.parse(tools.stdout)).toMatchObject({ tools: [{ name: 'greet' }] });
    await greeted();

    const before = await user.kept();
    expect(before.refreshToken !== undefined).toBe(renewing.includes(name));
    await user.letTokenEnd();
    if (renewing.includes(name)) {
      await greeted();
      expect((await user.kept()).accessToken).not.toBe(before.accessToken);
    } else {
      const refused = await user.run('call', peer.mcpUrl, 'greet');
      expect(refused.code, refused.stderr).toBe(exitCodes.loginNeeded);
    }

    const second = await withPortTaken(first.port, () => user.login());
    expect(second.code, second.stderr).toBe(exitCodes.ok);
    expect(second.port).not.toBe(first.port);
    const { accessToken } = await user.kept();
    expect(await peer.ping(accessToken)).toBe(200);
    const logout = await user.run('logout', peer.mcpUrl);
    expect(logout.code, logout.stderr).toBe(exitCodes.ok);
    expect((await peer.ping(accessToken)) === 401).toBe(ending.includes(name));
    await expect(user.kept()).rejects.toThrow('not one login is kept');
  }, 120_000);

  it('gatehouse doctor finds what is true, and nothing else', async () => {
    const expected = Object.keys(passiveFindings[name]).sort();
    const { code, found } = await examinePassively(peer.mcpUrl);
    expect(found).toEqual(expected);
    const hasFailed = expected.some((finding) => finding.startsWith('fail'));
    expect(code).toBe(hasFailed ? exitCodes.faultsFound : exitCodes.ok);
  }, 120_000);

  it('gatehouse doctor --active finds what is true, and nothing else', async () => {
    expect(await examineActively(peer.mcpUrl)).toEqual(Object.keys(activeFindings[name]).sort());
  }, 120_000);

  it('each finding has been confirmed by hand, and the note says how', async () => {
    const note = await readFile(join(import.meta.dirname, 'README.md'), 'utf8');
    const section = note.split(/^## /m).find((text) => text.startsWith(`${name}\n`)) ?? '';
    const noted = [...section.matchAll(/^\| `([A-Z-]+)` \| (warn|fail) \|/gm)].map(
      ([, id, verdict]) => `${verdict} ${id}`,
    );
    const all = [passiveFindings[name], activeFindings[name]].flatMap((findings) => Object.keys(findings));
    expect(noted.sort()).toEqual(all.sort());
  });
});
