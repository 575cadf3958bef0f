/**
 * Most milliseconds of what happens within a second. Beside other work, timers and processes come later, so only
 * `scripts/test --long` measures the second itself.
 */
export const oneSecondMs = process.env.GATEHOUSE_TEST_LONG ? 1_000 : 3_000;
