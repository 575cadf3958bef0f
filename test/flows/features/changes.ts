import { expect } from 'vitest';
import type { Feature } from './support/feature.ts';
import type { Peer } from './support/peer.ts';

const heardOf = ({ heard }: Peer, method: string, uri?: string) =>
  heard.filter((each) => each.method === method && (uri === undefined || each.params?.uri === uri)).length;

let count = 0;

/** What a server tells unasked: that its lists changed, or a resource. */
export const changeFeatures: readonly Feature[] = [
  {
    rule: 'changed lists are told to who listens (C5-01, C8-01, C8-02, C8-03)',
    async prove({ peer }) {
      const stop = await peer.listen('feature://text/1');
      for (const list of ['tools', 'prompts', 'resources']) {
        const method = `notifications/${list}/list_changed`;
        const before = heardOf(peer, method);
        await peer.call('announce', { list });
        await expect
          .poll(() => heardOf(peer, method), { interval: 5, timeout: 5000 })
          .toBeGreaterThan(before);
      }
      await stop();
    },
  },
  {
    rule: 'updates are told of resources that are subscribed to, of no others, and not after that (C5-01, C8-02)',
    async prove({ peer }) {
      const updated = 'notifications/resources/updated';
      const uri = `feature://text/${process.pid}-${++count}`;
      const stop = await peer.listen(uri);
      await peer.call('update', { uri });
      await expect.poll(() => heardOf(peer, updated, uri), { interval: 5, timeout: 5000 }).toBe(1);
      await stop();
      await peer.call('update', { uri });
      await peer.call('recall', { label: 'anything' });
      expect(heardOf(peer, updated, uri)).toBe(1);
    },
  },
];
