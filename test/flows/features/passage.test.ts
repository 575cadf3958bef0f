import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLong } from '../../support/share.ts';
import { changeFeatures } from './changes.ts';
import { courseFeatures } from './course.ts';
import { offerFeatures } from './offers.ts';
import { questionFeatures } from './questions.ts';
import { serverForms } from './support/forms.ts';
import { type Front, startFront } from './support/front.ts';
import type { Peer } from './support/peer.ts';
import { leadsTo, ways } from './support/ways.ts';
import { toolFeatures } from './tools.ts';

const features = [
  ...toolFeatures,
  ...offerFeatures,
  ...courseFeatures,
  ...questionFeatures,
  ...changeFeatures,
];

/** The daily run has every form with every way, and every feature with some of each; the long run has all of them. */
const share = isLong ? 1 : 5;

describe.each(serverForms)('through the front of $name', (form) => {
  let front: Front;
  beforeAll(async () => {
    front = await startFront(form);
  });
  afterAll(() => front.stop());

  describe.each(ways.filter((way) => leadsTo(form, way)))(
    'to a $sdk client of $revision over $transport',
    (way) => {
      let peer: Peer;
      beforeAll(async () => {
        peer = await way.connect(front);
      });
      afterAll(() => peer.close());

      const isModern = way.revision === '2026-07-28';
      const place = serverForms.indexOf(form) + ways.indexOf(way);
      const held = features.filter(
        ({ where }, at) => (at + place) % share === 0 && (where?.({ form, way, isModern }) ?? true),
      );
      it.each(held)('$rule', async ({ prove }) => {
        peer.complaints.length = 0;
        await prove({ form, way, isModern, peer, front });
        expect(peer.complaints).toEqual([]);
      });
    },
  );
});
