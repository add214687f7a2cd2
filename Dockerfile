# The study tool in an image: docker build --tag tumble .
#
#   docker run --rm --user "$(id -u)" --volume "$PWD:/studies" tumble ask drill.toml
#
# Studies lie in /studies. A command that `tumble run` starts has to be in the image: build your own FROM this one.
FROM python:3.11-slim AS wheel
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim
COPY --from=wheel /wheels /wheels
RUN python -m pip install --no-cache-dir "$(echo /wheels/tumble-*.whl)[plots,serve]"
RUN useradd --create-home --uid 10001 tumble && mkdir /studies && chown tumble /studies
# One BLAS thread a process, and no home folder that another user could not write to.
ENV OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MPLCONFIGDIR=/tmp PYTHONUNBUFFERED=1
USER tumble
WORKDIR /studies
ENTRYPOINT ["tumble"]
CMD ["--help"]
