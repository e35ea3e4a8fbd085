import process from 'node:process';
import { runWorker } from './run-worker.js';

void runWorker(process);
