import { createContext, useContext, useEffect, useRef, useState } from 'react';

/** An act that has been decided on and can still be called off. */
type Planned = {
  /** Does it at once; the same promise however often it is called. */
  now: () => Promise<unknown>;
  undo: () => void;
};

/** What has been decided on and is not done yet, over all pages. */
type PlannedActs = {
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

/** Carries the planned acts to the pages; `main.tsx` opens them. */
export const PlannedContext = createContext<PlannedActs | null>(null);

/** The planned acts inside a page: finished before the session they need is ended. */
export const usePlanned = (): PlannedActs => {
  const acts = useContext(PlannedContext);
  if (!acts) throw new Error('a page stands outside the context of planned acts');
  return acts;
};

/**
 * Puts off what cannot be undone for `delayMs`, in which it can be called off. Leaving the page does it at once: whoever
 * goes away has not changed their mind. Ending the session does it before (`usePlanned`). `act` shows its refusal itself.
 */
export const useUndoable = (delayMs: number, act: () => Promise<unknown>) => {
  const acts = usePlanned();
  const [isPlanned, setPlanned] = useState(false);
  const latest = useRef(act);
  latest.current = act;
  const planned = useRef<Planned | null>(null);

  useEffect(() => {
    const leave = () => void planned.current?.now().catch(() => undefined);
    window.addEventListener('pagehide', leave);
    return () => {
      window.removeEventListener('pagehide', leave);
      leave();
    };
  }, []);
  return {
    isPlanned,
    plan: () => {
      setPlanned(true);
      planned.current = acts.plan(delayMs, () => {
        planned.current = null;
        setPlanned(false);
        return latest.current();
      });
    },
    undo: () => {
      planned.current?.undo();
      planned.current = null;
      setPlanned(false);
    },
  };
};
