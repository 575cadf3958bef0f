import { describe, expect, it } from 'vitest';
import { isAboutTheRequest } from '../../../src/client/transports/about-the-request.ts';

describe('a status', () => {
  it('is about the request where it is 4xx, and not about credentials, rights or load (B6-01)', () => {
    const about = [200, 400, 401, 402, 403, 404, 405, 406, 407, 408, 410, 422, 429, 500].filter(
      isAboutTheRequest,
    );
    expect(about).toEqual([400, 404, 405, 406, 410, 422]);
  });
});
