import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../target/debug/tollgate', import.meta.url))
const FREE = ['listen.gateway=127.0.0.1:0', 'listen.check=127.0.0.1:0', 'listen.rls=127.0.0.1:0', 'listen.admin=127.0.0.1:0']
const EASY = ['admin.logins_per_minute=1000', 'admin.calls_per_second=10000']

/** Starts the real program with live traffic, on free ports; the tests find it in the environment. Returns what stops it. */
export async function launch(settings: string[] = []): Promise<() => Promise<void>> {
  const flags = [...FREE, ...EASY, ...settings].flatMap((setting) => ['--set', setting])
  const program = spawn(process.env['TOLLGATE'] ?? PROGRAM, ['demo', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resume) => program.once('exit', () => resume()))
  const text = await new Promise<string>((resume, fail) => {
    let said = ''
    program.stdout.on('data', (part: Buffer) => {
      said += part.toString()
      if (said.includes('Requests of the last second')) resume(said)
    })
    program.once('error', fail)
    program.once('exit', (code) => fail(new Error(`the program ended with ${String(code)}:\n${said}`)))
  })
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? ''
  process.env['ADMIN'] = find(/console\s+(http:\S+)/)
  process.env['GATEWAY'] = find(/gateway\s+(http:\S+)/)
  process.env['PASSWORD'] = find(/password ([^;\s]+);/)
  process.env['PROGRAM'] = String(program.pid)
  return async () => {
    program.kill('SIGTERM')
    await ended
  }
}
