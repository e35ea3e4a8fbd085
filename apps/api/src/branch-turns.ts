/** Whose turn it is in a tree of branches. A branch is named by its path; the paths of an entry run from the widest to the narrowest. */
export type BranchTurns = {
  /** The turn of the branch at `level` among its siblings: the lowest is next. */
  of: (paths: readonly string[], level: number) => number;
  /** Serves an entry: each of its branches comes after its siblings now. */
  take: (paths: readonly string[]) => void;
  /** Undoes {@link BranchTurns.take}. */
  giveBack: (paths: readonly string[]) => void;
};

type Branch = {
  /** When it is served next, in services of its parent. */
  turn: number;
  /** The turn of the child that was served last: where a child joins that was idle. */
  current: number;
};

/**
 * Start-time fair queueing at each level of the tree. A branch that was idle saves up nothing and owes nothing: it joins at
 * the turn that is being served. Remembers at most `max` branches: the one served longest ago makes room.
 */
export const branchTurns = (max: number): BranchTurns => {
  const branches = new Map<string, Branch>();
  const parentOf = (paths: readonly string[], level: number): string => paths[level - 1] ?? '';
  const change = (path: string, amend: (branch: Branch) => Branch): void => {
    const branch = branches.get(path) ?? { turn: 0, current: 0 };
    // Deleted first, so that the map stays in the order of the latest use.
    branches.delete(path);
    branches.set(path, amend(branch));
    if (branches.size <= max) return;
    for (const oldest of branches.keys()) {
      branches.delete(oldest);
      break;
    }
  };
  const turnOf = (paths: readonly string[], level: number): number => {
    const own = branches.get(paths[level] ?? '')?.turn ?? 0;
    return Math.max(own, branches.get(parentOf(paths, level))?.current ?? 0);
  };
  return {
    of: turnOf,
    take: (paths) => {
      for (const [level, path] of paths.entries()) {
        const turn = turnOf(paths, level);
        change(parentOf(paths, level), (parent) => ({ ...parent, current: turn }));
        change(path, (branch) => ({ ...branch, turn: turn + 1 }));
      }
    },
    giveBack: (paths) => {
      for (const path of paths) change(path, (branch) => ({ ...branch, turn: branch.turn - 1 }));
    },
  };
};
