/** An act that has been decided on and can still be called off. */
export type Planned = {
  /** Does it at once; the same promise however often it is called. */
  now: () => Promise<unknown>;
  undo: () => void;
};

/** What has been decided on and is not done yet, over all pages. */
export type PlannedActs = {
  plan: (delayMs: number, act: () => Promise<unknown>) => Planned;
  /** Does at once what is still put off, and waits for that and for what is under way. Rejects when one of them is refused. */
  finish: () => Promise<void>;
};

/** Opens the book of planned acts. It is one for all pages: an act needs the session, which a page alone does not end. */
export const createPlannedActs = (): PlannedActs => {
  const open = new Set<Planned>();
  return {
    plan: (delayMs, act) => {
      let done: Promise<unknown> | null = null;
      const planned: Planned = {
        now: () => {
          clearTimeout(timer);
          done ??= act().finally(() => open.delete(planned));
          return done;
        },
        undo: () => {
          clearTimeout(timer);
          open.delete(planned);
        },
      };
      // Whoever planned it shows why it was refused.
      const timer = setTimeout(() => void planned.now().catch(() => undefined), delayMs);
      open.add(planned);
      return planned;
    },
    finish: async () => {
      await Promise.all([...open].map((planned) => planned.now()));
    },
  };
};
