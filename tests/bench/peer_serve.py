"""sentence-transformers behind uvicorn, as it is usually put there: MODEL_FOLDER. POST /v1/embeddings on a free port of loopback, one thread.

Says `listening on http://127.0.0.1:PORT`, as `faceter serve` does. Requests are read by one event loop and embedded one after another by a thread of their
own: nothing puts those of several clients together.
"""

import asyncio
import json
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

import torch
import uvicorn
from sentence_transformers import SentenceTransformer


def app_of(model):
    worker = ThreadPoolExecutor(1)

    def embed(texts):
        return model.encode(texts, show_progress_bar=False).tolist()

    async def body_of(receive):
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        return json.loads(body)

    async def app(scope, receive, send):
        asked = (await body_of(receive))["input"]
        rows = await asyncio.get_running_loop().run_in_executor(worker, embed, [asked] if isinstance(asked, str) else asked)
        data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
        body = json.dumps({"object": "list", "data": data}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


def main():
    torch.set_num_threads(1)
    model = SentenceTransformer(sys.argv[1], device="cpu")
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app_of(model), lifespan="off", log_level="error", access_log=False)).run(sockets=[listener])


if __name__ == "__main__":
    main()
