import { describe, expect, it } from 'vitest';
import { withSteps } from '../../../src/gateway/steps/with-steps.ts';
import { RawServer } from './support/raw-server.ts';

describe('a source with steps', () => {
  it('is shared as it was, makes servers for whom they are asked for, and closes them', async () => {
    const contexts: unknown[] = [];
    const server = new RawServer();
    let closed = 0;
    server.close = async () => {
      closed++;
    };
    const source = withSteps(
      {
        sharing: 'principal',
        create(context) {
          contexts.push(context);
          return server;
        },
      },
      [],
      { error: () => undefined },
    );
    const made = await source.create({ era: 'legacy' });
    await made.close();
    expect([source.sharing, contexts, closed]).toEqual(['principal', [{ era: 'legacy' }], 1]);
  });
});
