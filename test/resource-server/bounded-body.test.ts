import { expect, it } from 'vitest';
import { readBounded } from '../../src/resource-server/bounded-body.ts';

it('reads an answer up to the limit, and stops at the first byte beyond it (T-057)', async () => {
  expect(await readBounded(new Response('a'.repeat(10)), 10)).toBe('a'.repeat(10));
  expect(await readBounded(new Response(null), 10)).toBe('');
  let poured = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      poured += 5;
      controller.enqueue(new Uint8Array(5));
    },
  });
  await expect(readBounded(new Response(endless), 10)).rejects.toThrow(RangeError);
  expect(poured).toBeLessThan(40);
});
