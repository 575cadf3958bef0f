/** Who logs in where a row needs a token of Gatehouse. */
export const person = { email: 'bench@example.com', password: 'a password for the bench' } as const;
