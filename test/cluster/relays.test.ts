import { describe, expect, it, onTestFinished } from 'vitest';
import { createNodeBus, type NodeBus } from '../../src/cluster/bus.ts';
import { relayChanges, relayCircuits } from '../../src/cluster/relays.ts';
import type { Change } from '../../src/mcp/protocol.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/index.ts';
import { testFolder } from '../client/support/folder.ts';

/** Opens the buses of two nodes on one database. */
async function openTwo(): Promise<{ here: NodeBus; there: NodeBus; comeBack: () => void }> {
  const storage = openSqliteStorage(`${testFolder()}/gatehouse.db`);
  const options = { store: storage.nodeMessages, secret: 'a secret', logger: createLogger('silent') };
  const [here, there] = [createNodeBus(options), createNodeBus(options)];
  let comeBack: () => void = () => undefined;
  await here.join({ id: 'here', hasOthers: async () => true, onBack: () => undefined });
  await there.join({
    id: 'there',
    hasOthers: async () => true,
    onBack: (callback) => {
      comeBack = callback;
    },
  });
  onTestFinished(async () => {
    await Promise.all([here.close(), there.close()]);
    await storage.close();
  });
  return { here, there, comeBack: () => comeBack() };
}

const updated = (uri: string, account?: string): Change => ({
  method: 'notifications/resources/updated',
  params: { uri },
  ...(account !== undefined && { account }),
});

/** Returns once a message that was posted after all others has arrived. */
async function untilArrived(from: NodeBus, at: NodeBus): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = at.on('last', '', () => resolve());
  from.post('last', '', performance.now());
  await promise;
  end();
}

describe('the relay of changes', () => {
  it('brings a change to the same part of the same route at the other node, with its account', async () => {
    const { here, there } = await openTwo();
    const heard: unknown[] = [];
    for (const [route, part] of [
      ['notes', 'listeners'],
      ['notes', 'steps'],
      ['files', 'listeners'],
    ] as const)
      relayChanges(there, route, part).listen(
        (change) => heard.push([route, part, change]),
        () => undefined,
      );
    const own: unknown[] = [];
    const relay = relayChanges(here, 'notes', 'listeners');
    relay.listen(
      (change) => own.push(change),
      () => undefined,
    );
    relay.tell(updated('note://1', 'ada'));
    await expect.poll(() => heard).toEqual([['notes', 'listeners', updated('note://1', 'ada')]]);
    await untilArrived(here, there);
    expect([heard.length, own]).toEqual([1, []]);
  });

  it('leaves out a change that this node has heard by itself, and no earlier or other one', async () => {
    const { here, there } = await openTwo();
    const heard: unknown[] = [];
    const theirs = relayChanges(there, 'notes', 'listeners');
    theirs.listen(
      ({ params }) => heard.push(params?.uri),
      () => undefined,
    );
    const ours = relayChanges(here, 'notes', 'listeners');
    theirs.tell(updated('before'));
    // Each takes longer than the same change may need to reach both nodes.
    for (let time = 0; time < 2; time++) await untilArrived(there, here);
    for (const uri of ['before', 'both', 'one']) ours.tell(updated(uri));
    theirs.tell(updated('both'));
    await expect.poll(() => heard).toEqual(['before', 'one']);
    await untilArrived(here, there);
    expect(heard).toEqual(['before', 'one']);
  });

  it('says that everything counts as changed if messages may be lost, until it is ended', async () => {
    const { there, comeBack } = await openTwo();
    let times = 0;
    const end = relayChanges(there, 'notes', 'steps').listen(
      () => undefined,
      () => times++,
    );
    comeBack();
    expect(times).toBe(1);
    end();
    comeBack();
    expect(times).toBe(1);
  });
});

describe('the relay of circuits', () => {
  it('brings the state of a circuit with the time that is left, to the same backend', async () => {
    const { here, there } = await openTwo();
    const heard: { account?: string; openMs: number }[] = [];
    relayCircuits(there, 'notes').listen((state) => void heard.push(state));
    relayCircuits(there, 'files').listen(() => expect.unreachable());
    const relay = relayCircuits(here, 'notes');
    relay.tell({ openMs: 30_000 });
    relay.tell({ account: 'ada', openMs: 0 });
    // It is over before it arrives.
    relay.tell({ account: 'bob', openMs: 1 });
    await untilArrived(here, there);
    expect(heard).toEqual([{ openMs: expect.any(Number) }, { account: 'ada', openMs: 0 }]);
    expect(heard[0]?.openMs).toBeGreaterThan(25_000);
    expect(heard[0]?.openMs).toBeLessThanOrEqual(30_000);
  });
});
