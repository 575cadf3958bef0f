/** Source files that need no twin test of their own, each with the reason. */
export const withoutTwin: readonly { file: string; reason: string }[] = [];
