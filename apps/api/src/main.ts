import process from 'node:process';
import { runApi } from './run-api.js';

void runApi(process);
