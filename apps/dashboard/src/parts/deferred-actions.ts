import { createContext, useContext, useEffect, useRef, useState } from 'react';

/** A deferred action that can still be cancelled. */
type DeferredAction = {
  /** Runs it now. Repeated calls return the same promise. */
  now: () => Promise<unknown>;
  undo: () => void;
};

/** The deferred actions of all pages. */
type DeferredActions = {
  defer: (delayMs: number, action: () => Promise<unknown>) => DeferredAction;
  /** Runs all deferred actions now and waits until they have ended. Rejects when one of them fails. */
  finish: () => Promise<void>;
};

/** Creates the registry of deferred actions. All pages share it, so that sign-out can run the actions that need the session. */
export const createDeferredActions = (): DeferredActions => {
  const pending = new Set<DeferredAction>();
  return {
    defer: (delayMs, action) => {
      let done: Promise<unknown> | null = null;
      const deferred: DeferredAction = {
        now: () => {
          clearTimeout(timer);
          done ??= action().finally(() => pending.delete(deferred));
          return done;
        },
        undo: () => {
          clearTimeout(timer);
          pending.delete(deferred);
        },
      };
      // The caller of `defer` shows the error.
      const timer = setTimeout(() => void deferred.now().catch(() => undefined), delayMs);
      pending.add(deferred);
      return deferred;
    },
    finish: async () => {
      await Promise.all([...pending].map((deferred) => deferred.now()));
    },
  };
};

/** Provides the deferred actions to the pages; set in `main.tsx`. */
export const DeferredActionsContext = createContext<DeferredActions | null>(null);

/** The deferred actions. Callers run `finish` before they end the session. */
export const useDeferredActions = (): DeferredActions => {
  const actions = useContext(DeferredActionsContext);
  if (!actions) throw new Error('useDeferredActions is used outside DeferredActionsContext');
  return actions;
};

/**
 * Defers an irreversible action by `delayMs`, during which it can be undone. Leaving the page or ending the session runs it
 * immediately. `action` handles its own errors.
 */
export const useUndoable = (delayMs: number, action: () => Promise<unknown>) => {
  const actions = useDeferredActions();
  const [isDeferred, setDeferred] = useState(false);
  const latest = useRef(action);
  latest.current = action;
  const deferred = useRef<DeferredAction | null>(null);

  useEffect(() => {
    const leave = () => void deferred.current?.now().catch(() => undefined);
    window.addEventListener('pagehide', leave);
    return () => {
      window.removeEventListener('pagehide', leave);
      leave();
    };
  }, []);
  return {
    isDeferred,
    defer: () => {
      setDeferred(true);
      deferred.current = actions.defer(delayMs, () => {
        deferred.current = null;
        setDeferred(false);
        return latest.current();
      });
    },
    undo: () => {
      deferred.current?.undo();
      deferred.current = null;
      setDeferred(false);
    },
  };
};
