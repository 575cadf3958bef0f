/**
 * Loads what reads config files: half of what a command of an operator loads, and one that is given the data folder needs
 * none of it.
 */
export const loadSettingsReader = (): Promise<typeof import('../config/load.ts')> =>
  import('../config/load.ts');
