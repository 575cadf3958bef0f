/** Notes the use of the sessions a registry holds in the storage, and gives the keys of those in use. */
export type NoteUse = () => Promise<readonly string[]>;

/** The registries on one storage: what each knows of the use of its sessions counts when any of them sweeps. */
export interface SessionsInUse {
  /** @returns takes the registry out again */
  add(noteUse: NoteUse): () => void;
  /** Has each registry note what it knows; gives the keys of all sessions in use. */
  note(): Promise<string[]>;
}

/** Creates the list of registries, empty. */
export function createSessionsInUse(): SessionsInUse {
  const registries = new Set<NoteUse>();
  return {
    add(noteUse) {
      registries.add(noteUse);
      return () => registries.delete(noteUse);
    },
    async note() {
      return (await Promise.all([...registries].map((noteUse) => noteUse()))).flat();
    },
  };
}
