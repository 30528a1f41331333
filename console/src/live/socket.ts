/** The first wait before trying again, and the longest, in milliseconds. */
const FIRST_WAIT = 500
const LONGEST_WAIT = 15_000

/** Numbers older than this are not shown as new, in milliseconds. */
export const STALE_AFTER = 4_000

export type SocketState = 'connecting' | 'live' | 'waiting' | 'closed'

/** What the socket needs from the world, so that tests can stand in for it. */
export interface World {
  ticket(): Promise<string>
  open(ticket: string): WebSocket
  later(run: () => void, wait: number): number
  forget(timer: number): void
  random(): number
}

export interface Listener {
  state(state: SocketState): void
  message(text: string): void
}

/** How long to wait before attempt `n` (from 0): doubling, and spread so that not everybody comes back at once. */
export function backoff(attempt: number, random: number): number {
  const most = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** Math.min(attempt, 10))
  return Math.round(most * (0.5 + random / 2))
}

/** A WebSocket that comes back. */
export class LiveSocket {
  private socket: WebSocket | null = null
  private timer: number | null = null
  private attempt = 0
  private wanted: string | null = null
  private is_closed = true

  constructor(
    private readonly world: World,
    private readonly listener: Listener,
  ) {}

  start(): void {
    if (!this.is_closed) return
    this.is_closed = false
    this.attempt = 0
    void this.connect()
  }

  stop(): void {
    this.is_closed = true
    if (this.timer !== null) this.world.forget(this.timer)
    this.timer = null
    this.socket?.close()
    this.socket = null
    this.listener.state('closed')
  }

  /** Gives up on a connection that is silent. */
  restart(): void {
    if (this.is_closed || !this.socket) return
    const socket = this.socket
    this.socket = null
    socket.close()
    this.comeBack()
  }

  /** Says what to hear; said again after each reconnect. */
  subscribe(message: object): void {
    this.wanted = JSON.stringify(message)
    if (this.socket?.readyState === 1) this.socket.send(this.wanted)
  }

  private async connect(): Promise<void> {
    this.listener.state('connecting')
    let ticket: string
    try {
      ticket = await this.world.ticket()
    } catch {
      this.comeBack()
      return
    }
    if (this.is_closed) return
    const socket = this.world.open(ticket)
    this.socket = socket
    socket.onopen = () => {
      if (this.wanted) socket.send(this.wanted)
    }
    socket.onmessage = (event: MessageEvent<string>) => {
      if (this.socket !== socket) return
      // Only what is heard is proof of a connection: a server may accept and say nothing.
      this.attempt = 0
      this.listener.state('live')
      this.listener.message(event.data)
    }
    socket.onclose = () => {
      if (this.socket !== socket) return
      this.socket = null
      this.comeBack()
    }
  }

  private comeBack(): void {
    if (this.is_closed) return
    this.listener.state('waiting')
    const wait = backoff(this.attempt++, this.world.random())
    this.timer = this.world.later(() => void this.connect(), wait)
  }
}
