import { z } from 'zod';
import { accountFields, callerFields, clientFields } from '../../oauth/caller-fields.ts';
import { headerName, processVariable } from '../credentials.ts';

const field = z.enum(callerFields).describe('field of the caller: sub is the account');

/** Setting: data about its callers that a backend by URL gets. */
export const remoteCallerSettings = z
  .strictObject({
    headers: z
      .record(headerName, field)
      .optional()
      .describe(
        'headers about the caller in each request, each with a field such as email; one without a value is absent',
      ),
    assertion: z
      .union([
        z.boolean(),
        z.strictObject({ header: headerName.describe('its header; default: x-gatehouse-assertion') }),
      ])
      .optional()
      .describe('true for a signed JWT about the caller in each request, or the header for it'),
  })
  .optional();

/** Setting: data about its callers that a program gets. */
export const stdioCallerSettings = z
  .strictObject({
    env: z
      .record(
        processVariable,
        z
          .enum([...accountFields, ...clientFields])
          .describe('field of the caller; process account takes sub and email, process session all'),
      )
      .optional()
      .describe(
        'variables about the caller of a process, each with a field such as email; not with process shared',
      ),
    assertion: z
      .boolean()
      .optional()
      .describe(
        'true for a signed JWT about the caller in _meta of each request but initialize (mcp-gatehouse/caller-assertion)',
      ),
  })
  .optional();
