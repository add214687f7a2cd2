"""The page, its files, and a plain list of what the HTTP door offers; nothing comes from the network."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from typing import Any

from fastapi import FastAPI
from starlette.responses import Response

from tumble.server.answers import refusal

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
ASSETS = {  # name in the address: where it lies
    "figures.css": "tumble.studies",
    "figures.js": "tumble.studies",
    "page.css": "tumble.server",
    "page.js": "tumble.server",
}


def add(app: FastAPI) -> None:
    """Add the page, its files and the list of operations."""

    @app.get("/", include_in_schema=False)
    async def page() -> Any:
        return _file("tumble.server", "page.html")

    @app.get("/assets/{name}", include_in_schema=False)
    async def asset(name: str) -> Any:
        if name not in ASSETS:
            return refusal(404, "NotFound", "there is no such file")
        return _file(ASSETS[name], name)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Any:
        shell = bytes(_file("tumble.server", "docs.html").body).decode()
        return Response(shell.replace("OPERATIONS", _operations(app.openapi())), media_type="text/html")


def _file(package: str, name: str) -> Response:
    content = files(package).joinpath("static", name).read_bytes()
    return Response(content, media_type=KINDS[name.rpartition(".")[2]])


def _operations(schema: dict[str, Any]) -> str:
    """One section for each path, from the description of the application itself."""
    parts = []
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            parts.append(f"<h2>{method.upper()} {escape(path)}</h2><p>{escape(operation['summary'])}</p>")
            parts.append(_keys(operation, schema))
    return "\n".join(parts)


def _keys(operation: dict[str, Any], schema: dict[str, Any]) -> str:
    """The keys of a body, as a table; nothing where there is none."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    reference = body.get("$ref") or next((x["$ref"] for x in body.get("anyOf", []) if "$ref" in x), "")
    model = schema.get("components", {}).get("schemas", {}).get(reference.rpartition("/")[2], {})
    required = model.get("required", [])
    rows = "".join(
        f"<tr><th scope=row>{escape(name)}{'' if name in required else ' (optional)'}</th>"
        f"<td>{escape(entry.get('description', ''))}</td></tr>"
        for name, entry in model.get("properties", {}).items()
    )
    return f"<table>{rows}</table>" if rows else ""
