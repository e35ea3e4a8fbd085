import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Changing } from '../session/session.js';
import { Empty } from './states.js';

/** Placeholder for the checks of an account that has none. `children`: what will appear here. */
export const NoChecksYet = ({ children }: { children: ReactNode }) => (
  <Empty
    title="No checks yet"
    action={
      <Changing>
        <Link to="/checks/new" className="button">
          Make your first check
        </Link>
      </Changing>
    }
  >
    {children}
  </Empty>
);
