#!/usr/bin/env python3
"""Runs a command against a Chat Completions server on the loopback interface.

with-chat-server.py SCENARIO.json -- COMMAND… : `@ENDPOINT@` in the command becomes the
server's base URL. SCENARIO is {"key": "…", "responses": [{…}, …]}, one response a request,
the last one repeated. A response: "status" (200), "headers", "delay" (seconds before the
answer), "close" (drop the connection in the middle of the body), and one of "content" (text
or object of the model's message), "refusal", "raw" (the whole body), "finish_reason".

Afterwards prints what the server saw (`request N: …`), the command's exit status, and
whether the key appeared in anything the command printed or wrote to the folder that
CHECK_DIR names.
"""
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

scenario = json.loads(pathlib.Path(sys.argv[1]).read_text())
command = sys.argv[sys.argv.index("--") + 1:]
key = scenario.get("key", "sk-test-0123456789-secret")
seen = []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = scenario["responses"][min(len(seen), len(scenario["responses"]) - 1)]
        seen.append({"path": self.path, "authorization": self.headers.get("Authorization"),
                     "body": json.loads(body)})
        time.sleep(answer.get("delay", 0))
        if "raw" in answer:
            text = answer["raw"]
        else:
            content = answer.get("content", "")
            message = {"role": "assistant",
                       "content": content if isinstance(content, str) else json.dumps(content)}
            if "refusal" in answer:
                message = {"role": "assistant", "content": None, "refusal": answer["refusal"]}
            text = json.dumps({"choices": [{"index": 0, "message": message,
                                            "finish_reason": answer.get("finish_reason", "stop")}],
                               "usage": {"prompt_tokens": 1000, "completion_tokens": 100}})
        data = text.replace("@KEY@", key).encode()
        try:
            self.send_response(answer.get("status", 200))
            for name, value in answer.get("headers", {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if answer.get("close"):
                self.wfile.write(data[:len(data) // 2])
                self.close_connection = True
                return
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client timed out, as a test wants


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
endpoint = f"http://127.0.0.1:{server.server_address[1]}/v1"
environment = dict(os.environ, OPENAI_API_KEY=key, no_proxy="127.0.0.1", NO_PROXY="127.0.0.1")
result = subprocess.run([word.replace("@ENDPOINT@", endpoint) for word in command],
                        env=environment, capture_output=True, text=True, timeout=600)
server.shutdown()

print(result.stdout.replace(endpoint, "ENDPOINT"), end="")
print(result.stderr.replace(endpoint, "ENDPOINT"), end="")
for number, request in enumerate(seen, 1):
    body = request["body"]
    print(f"request {number}: POST {request['path']} model {body['model']}, "
          f"{len(body['messages'])} messages, "
          f"{'key sent' if request['authorization'] == 'Bearer ' + key else 'WRONG KEY'}, "
          f"format {body['response_format']['type']}")
    if len(body["messages"]) > 2:
        print("feedback:", body["messages"][-1]["content"])
print("exit", result.returncode)
leaked = key in result.stdout or key in result.stderr
if "CHECK_DIR" in os.environ:
    for path in pathlib.Path(os.environ["CHECK_DIR"]).rglob("*"):
        leaked |= path.is_file() and key.encode() in path.read_bytes()
print("KEY LEAKED" if leaked else "no key in any output")
