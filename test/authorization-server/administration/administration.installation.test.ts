import { expect, it } from 'vitest';
import { administerInstallation } from '../../../src/authorization-server/administration/administration.ts';

it('that a backup was put back stands in the audit log, with how old it was', async () => {
  const rows: unknown[] = [];
  const { noteRestored } = administerInstallation(async (...row) => void rows.push(row));
  await noteRestored({ asOf: 0, keptLogins: false });
  await noteRestored({ asOf: 86_400, keptLogins: false });
  await noteRestored({ keptLogins: true });
  expect(rows).toEqual([
    ['installation.restored', { asOf: '1970-01-01T00:00:00.000Z', keptLogins: 'false' }],
    ['installation.restored', { asOf: '1970-01-02T00:00:00.000Z', keptLogins: 'false' }],
    ['installation.restored', { keptLogins: 'true' }],
  ]);
});
